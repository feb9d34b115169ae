"""Many comparisons: the intervals of one table hold together, those of all tables of a report do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stepgrid.summarize.comparisons.comparison import Comparison, Entry
from stepgrid.summarize.statistics.confidence_intervals import chance
from stepgrid.summarize.statistics.verdicts import DIFFERENCES

RATE = 0.05  # of the differences of a report, how many may be by chance


def sentences(tables: Sequence[Comparison], effect: float) -> Iterator[str]:
    """Which differences would not stand, were all comparisons of the report judged together (Benjamini, Hochberg)."""
    known = [(entry, found) for entry in _entries(tables) if (found := _chance(entry, effect)) is not None]
    families = sum(len(table.steps) for table in tables)
    differences = sum(entry.verdict in DIFFERENCES for entry, _ in known)
    if families < 2:
        return
    adjusted = _adjusted([found for _, found in known])
    weak = sum(entry.verdict in DIFFERENCES and found > RATE for (entry, _), found in zip(known, adjusted, strict=True))
    if weak:
        yield (
            f"{weak} of the {differences} differences may be chance: if the {len(known)} comparisons of all tables "
            f"were judged together and not table by table, {weak} would be inconclusive"
        )


def _adjusted(chances: Sequence[float]) -> Sequence[float]:
    """Each depends on all of them. As scipy.stats, which takes half a second to import, does it."""
    found, least, count = [0.0] * len(chances), 1.0, len(chances)
    for rank, place in zip(range(count, 0, -1), sorted(range(count), key=lambda at: -chances[at]), strict=True):
        least = min(least, chances[place] * (count / rank))
        found[place] = least
    return found


def _entries(tables: Iterable[Comparison]) -> Iterator[Entry]:
    return (entry for table in tables for row in table.rows for entry in row.entries if not entry.refusal)


def _chance(entry: Entry, effect: float) -> float | None:
    return chance(entry.interval, effect) if entry.interval else None
