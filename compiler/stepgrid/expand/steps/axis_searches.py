"""Searches on a live grid, checked: each stands for a number of steps whose value is chosen while they run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from stepgrid.expand.step_entry import StepEntry
from stepgrid.language.expressions import ExpressionError, Objective, parse_objective
from stepgrid.language.models import Search
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.yaml import Text
from stepgrid.model import units
from stepgrid.model.search import AxisSearch, placeholder
from stepgrid.plugins.driver import Placeholders
from stepgrid.plugins.registry import driver

LEAST_POINTS = 4


def read(variable: str, said: Search, problems: Problems) -> AxisSearch | None:
    """None where something is wrong with it, which is said."""
    low, high = (units.number(str(end)) for end in said.search)
    where = said.search[0].where
    if not isinstance(low, int) or not isinstance(high, int) or not 0 < low < high:
        ends = f"[{said.search[0]}, {said.search[1]}]"
        problems.add(
            "search-form", where, f"`search: {ends}` is no range", "from a whole number above 0 to a larger one"
        )
        return None
    if said.points < LEAST_POINTS:
        message = f"`points: {said.points}` are too few to search with"
        problems.add("search-form", where, message, f"at least {LEAST_POINTS}")
        return None
    asked = _objective(said.for_, problems)
    if asked is None or not _is_bounded(asked, variable, said.for_, problems):
        return None
    return AxisSearch(variable, str(said.param or variable), low, high, str(said.for_), said.points)


def _objective(text: Text, problems: Problems) -> Objective | None:
    try:
        return parse_objective(str(text))
    except ExpressionError as error:
        problems.add("search-form", text.where, str(error), error.hint, len(text))
        return None


def _is_bounded(asked: Objective, variable: str, text: Text, problems: Problems) -> bool:
    if asked.name == variable and not asked.condition:
        message = f"`max {variable}` is always the end of its range"
        problems.add("search-form", text.where, message, f"add a condition: `max {variable} where …`", len(text))
        return False
    return True


def check_names(item: StepEntry, settings: Mapping[str, Any], problems: Problems) -> None:
    """The figures that a search looks at, against those that its steps can have."""
    if item.search is None or item.search_at is None:
        return
    from stepgrid.plugins import metrics  # of all plug-ins: most specs search nothing
    from stepgrid.plugins.metrics import OwnMetrics

    kind = driver(item.kind)
    own = kind.own_metrics(settings) if isinstance(kind, OwnMetrics) else {}
    known = {*metrics.METRICS, *own, item.search.variable}
    for name in _unknown(item.search.objective, known):
        where, hint = item.search_at, nearest(name, known)
        problems.add("undefined-name", where, f"there is no metric `{name}` (step `{item.base}`)", hint, len(name))
    if item.search.param not in settings and placeholder(item.search) not in str(settings):
        message = f"step `{item.base}` has neither a setting `{item.search.param}` nor `{placeholder(item.search)}`"
        problems.add("search-form", item.search_at, message, "say with `param:` which setting is searched on")


def _unknown(text: str, known: Collection[str]) -> Iterator[str]:
    return (name for name in sorted(parse_objective(text).names) if name not in known)


def lowest(kind: str, search: AxisSearch, where: Location) -> dict[str, Text]:
    """What stands for the value until it is chosen; nothing of one that is put into the words of a command."""
    model = driver(kind)
    if isinstance(model, Placeholders) and search.param not in model.settings_model().model_fields:
        return {}
    return {search.param: Text(str(search.least), where)}
