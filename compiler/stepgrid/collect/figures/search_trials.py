"""What the points of a search tried: the value, and whether the condition held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepgrid.language.expressions.evaluator import ExpressionError
from stepgrid.language.expressions.objective import objective
from stepgrid.model.axis_search import SEARCH, AxisSearch, Trial
from stepgrid.model.plan import PlannedStep

VALUE, HOLDS = "tried_value", "tried_holds"


def trial(search: AxisSearch, value: int, metrics: Mapping[str, float]) -> Trial:
    """ExpressionError where it has no figure that the search looks at."""
    asked, names = objective(search.objective), {**metrics, search.variable: float(value)}
    if asked.name not in names:
        raise ExpressionError(f"`{asked.name}` is not defined", asked.name)
    return Trial(value, asked.holds(names), names[asked.name])


def figures(step: PlannedStep, record: Mapping[str, Any], metrics: Mapping[str, float]) -> dict[str, float]:
    """Of a point of a search; whether it held is missing where its figures do not tell."""
    search = AxisSearch.of(step.setup)
    if search is None or SEARCH not in record:
        return {}
    value = int(record[SEARCH])
    try:
        return {VALUE: float(value), HOLDS: float(trial(search, value, metrics).holds)}
    except ExpressionError:
        return {VALUE: float(value)}
