"""Results that are read together: as many as make it cheaper, and no more than memory holds, however long they ran."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stepgrid.model.plan import PlannedStage
from stepgrid.store.status.results import State

MOST = 16  # results: more of them take as much CPU each
SECONDS = 5_000.0  # of steps, as each has a sample; a result that is longer is read alone
Result = tuple[PlannedStage, State]


def batches(results: Iterable[Result]) -> Iterator[list[Result]]:
    some, seconds = list[Result](), 0.0
    for result in results:
        own = _seconds(result)
        if some and (len(some) == MOST or seconds + own > SECONDS):
            yield some
            some, seconds = [], 0.0
        some.append(result)
        seconds += own
    if some:
        yield some


def _seconds(result: Result) -> float:
    said = (step.get("seconds") for step in result[1].steps)
    return sum(seconds for seconds in said if isinstance(seconds, int | float))
