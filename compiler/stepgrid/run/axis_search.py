"""The value of a point of a search, chosen from what the points before it in this stage have shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.host.failure import StageError
from stepgrid.language.expressions import ExpressionError, parse_objective
from stepgrid.model.plan import PlannedStep
from stepgrid.model.search import AxisSearch, Trial, next_boundary, next_peak


class Done(NamedTuple):
    """A step of the stage that has run."""

    step: PlannedStep
    record: Mapping[str, Any]
    folder: Path


def chosen(step: PlannedStep, done: Sequence[Done]) -> int | None:
    """None of a step that is no point of a search. StageError where the points before it lack a figure."""
    search = AxisSearch.of(step.setup)
    if search is None:
        return None
    trials = list(_trials(search, step.name, done))
    if parse_objective(search.objective).name == search.variable:
        return next_boundary(search.least, search.most, trials)
    return next_peak(search.least, search.most, search.points, trials)


def _trials(search: AxisSearch, name: str, done: Sequence[Done]) -> Iterator[Trial]:
    for point in done:
        if _is_same(search, name, point.step):
            try:
                yield _trial(search, point)
            except ExpressionError as error:
                raise StageError(f"the search `{search.objective}` cannot go on: {error}", point.step.name) from None


def _is_same(search: AxisSearch, name: str, other: PlannedStep) -> bool:
    """A warm-up is no point."""
    other_search = AxisSearch.of(other.setup)
    return other.measured and other_search is not None and other_search.group(other.name) == search.group(name)


def _trial(search: AxisSearch, point: Done) -> Trial:
    from stepgrid.collect.step_figures import TRIED, read_step, trial  # it takes a moment, and few stages search

    figures = read_step(point.folder, point.step, point.record).figures
    if figures.error:
        raise StageError(f"the search cannot go on: {figures.error}")
    return trial(search, int(figures.metrics[TRIED]), figures.metrics)
