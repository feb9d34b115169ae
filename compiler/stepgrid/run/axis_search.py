"""The value of a point of a search, chosen from what the points before it in this stage have shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.host.failure import StageError
from stepgrid.language.expressions.evaluator import ExpressionError
from stepgrid.language.expressions.objective import objective
from stepgrid.model.axis_search import AxisSearch, Trial, next_boundary, next_peak
from stepgrid.model.plan import PlannedStep
from stepgrid.model.status import Result


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
    if objective(search.objective).name == search.variable:
        return next_boundary(search.least, search.most, trials)
    return next_peak(search.least, search.most, search.points, trials)


def _trials(search: AxisSearch, name: str, done: Sequence[Done]) -> Iterator[Trial]:
    own = [each for each in done if _same(search, name, each.step)]
    for each, metrics in zip(own, _metrics(own), strict=True):
        try:
            yield _trial(search, each, metrics)
        except ExpressionError as error:
            raise StageError(f"the search `{search.objective}` cannot go on: {error}", each.step.name) from None


def _same(search: AxisSearch, name: str, other: PlannedStep) -> bool:
    """A warm-up is no point."""
    found = AxisSearch.of(other.setup)
    return other.measured and found is not None and found.group(other.name) == search.group(name)


def _trial(search: AxisSearch, done: Done, metrics: Mapping[str, float]) -> Trial:
    from stepgrid.collect.figures.search_trials import VALUE, trial

    return trial(search, int(metrics[VALUE]), metrics)


def _metrics(done: Sequence[Done]) -> Sequence[Mapping[str, float]]:
    """As collect reads them."""
    if not done:
        return ()
    from stepgrid.collect.figures.step_figures import read  # it takes a moment, and few stages search

    result = Result(done[0].folder.parent, steps=tuple(e.record for e in done), folders=tuple(e.folder for e in done))
    found = read([(result, [each.step for each in done])])[0]
    if wrong := next((each.error for each in found if each.error), None):
        raise StageError(f"the search cannot go on: {wrong}")
    return [each.metrics for each in found]
