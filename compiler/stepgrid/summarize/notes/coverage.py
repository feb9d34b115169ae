"""How much of the sweep there is, and what became of the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from stepgrid.model.status import Status
from stepgrid.summarize.comparisons.comparison_axes import words
from stepgrid.summarize.data.series import Place
from stepgrid.summarize.data.tables_reader import Run

ORDER = tuple(Status)


@dataclass(frozen=True, slots=True)
class MissingFigures:
    """Runs that lack figures for one and the same reason."""

    status: str
    reason: str
    runs: int
    cells: tuple[str, ...]
    logs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    counts: Mapping[str, int]  # of measured runs, each counted once
    troubles: tuple[MissingFigures, ...]

    @property
    def incomplete(self) -> int:
        return self.total - self.counts[Status.DONE] - self.counts[Status.UNSUPPORTED]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def status(runs: Sequence[Run]) -> Coverage:
    """A run that several cells share counts once."""
    once: dict[Place, Run] = {}
    for run in runs:
        if run.measured:
            once.setdefault(run.place, run)
    counts = Counter(run.status for run in once.values())
    return Coverage({name: counts[name] for name in ORDER}, _troubles([*once.values()]))


def measured(runs: Sequence[Run]) -> tuple[datetime, datetime] | None:
    """When the first and the last measured step began."""
    times = [run.started for run in runs if run.measured and run.started]
    return (min(times), max(times)) if times else None


def _troubles(runs: Sequence[Run]) -> tuple[MissingFigures, ...]:
    found: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        if run.status != Status.DONE:
            found.setdefault((run.status, run.reason or "no reason recorded"), []).append(run)
    ordered = sorted(found.items(), key=lambda item: -ORDER.index(Status[item[0][0].upper()]))
    return tuple(_trouble(status, reason, members) for (status, reason), members in ordered)


def _trouble(status: str, reason: str, runs: Sequence[Run]) -> MissingFigures:
    cells = dict.fromkeys(words((*run.labels.values(), run.step), (*run.labels, "step")) for run in runs)
    logs = dict.fromkeys(run.log for run in runs if run.log and run.status != Status.UNSUPPORTED)
    return MissingFigures(status, reason, len(runs), tuple(cells), tuple(logs))
