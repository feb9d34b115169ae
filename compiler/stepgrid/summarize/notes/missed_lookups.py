"""Which runs found fewer keys than the steps before them wrote: their figures are of lookups of missing keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stepgrid.model.units import percent
from stepgrid.plugins.hit_rate import EXPECTED, FOUND
from stepgrid.summarize.comparisons.conditions import has_missed_lookups
from stepgrid.summarize.data.tables_reader import Run


def sentences(runs: Iterable[Run]) -> Iterator[str]:
    """One for each step."""
    found: dict[str, list[Run]] = {}
    for run in filter(has_missed_lookups, runs):
        found.setdefault(run.step, []).append(run)
    for step, missed in found.items():
        builds = ", ".join(dict.fromkeys(run.build for run in missed))
        yield (
            f"{step} of {builds}: found {_percent(missed, FOUND)} of the keys that it looked up; "
            f"{_percent(missed, EXPECTED)} were expected: lookups of missing keys are part of these figures"
        )


def _percent(runs: Iterable[Run], metric: str) -> str:
    values = sorted(run.metrics[metric] for run in runs)
    return " to ".join(dict.fromkeys(percent(value / 100) for value in (values[0], values[-1])))
