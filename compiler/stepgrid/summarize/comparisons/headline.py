"""What a report says first where no comparison is a difference: what was judged, and why the others were not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stepgrid.model.units import counted
from stepgrid.summarize.comparisons.comparison import RATIO, Comparison, Entry
from stepgrid.summarize.statistics.verdicts import DIFFERENCES, INCONCLUSIVE, INDICATIVE, ONE_LOAD, VERDICTS

NOT_COMPARABLE = "not comparable"
NO_DIFFERENCE, NO_VERDICT = "No difference found", "No verdict"
NOTHING_FOUND = "No difference exceeds the noise."
MORE_LOADS = "Raise `repeat` for the inconclusive ones (`stepgrid plan` says to what)."


@dataclass(frozen=True, slots=True)
class Headline:
    title: str
    sentences: tuple[str, ...]


def headline(tables: Iterable[Comparison]) -> Headline | None:
    """None where a difference was found, or nothing was compared."""
    words = Counter(_word(entry) for table in tables for line in table.lines for entry in line.entries if _is(entry))
    if not words or any(words[word] for word in DIFFERENCES):
        return None
    judged = any(words[word] for word in VERDICTS)
    return Headline(NO_DIFFERENCE if judged else NO_VERDICT, tuple(_sentences(words, judged)))


def _is(entry: Entry) -> bool:
    return entry.kind == RATIO and entry.ratio is not None


def _word(entry: Entry) -> str:
    return NOT_COMPARABLE if entry.caveat or entry.verdict is None else entry.verdict


def _sentences(words: Counter[str], judged: bool) -> Iterator[str]:
    if judged:
        yield f"{NOTHING_FOUND} {MORE_LOADS}" if words[INCONCLUSIVE] else NOTHING_FOUND
    if alone := words[ONE_LOAD] + words[INDICATIVE]:
        hints = f" ({words[INDICATIVE]} indicative)" if words[INDICATIVE] else ""
        yield f"{counted(alone, 'comparison')}, one load{' each' if alone > 1 else ''}: no verdict{hints}"
    if unlike := words[NOT_COMPARABLE]:
        yield f"{counted(unlike, 'comparison')}, builds of different or unknown quality: no verdict"
