"""What a report says first: the largest differences, and each arm against the base; of much, what weighs most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from stepgrid.model.units import counted
from stepgrid.summarize.comparisons import phrases
from stepgrid.summarize.comparisons.comparison import RATIO, Comparison, Entry
from stepgrid.summarize.comparisons.phrases import Weight
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics.verdicts import DIFFERENCES, INCONCLUSIVE, INDICATIVE, ONE_LOAD, VERDICTS

MOST_FINDINGS, MOST_TALLIES = 6, 12
NOT_COMPARABLE = "not comparable"
NO_DIFFERENCE, NO_VERDICT = "No difference found", "No verdict"
NOTHING_FOUND = "No difference exceeds the noise."
MORE_LOADS = "Raise `repeat` for the inconclusive ones (`stepgrid plan` says to what)."


@dataclass(frozen=True, slots=True)
class Headline:
    title: str
    sentences: tuple[str, ...]


def lines(report: Report) -> list[str]:
    return [*_first(report), *_shortened(report)]


def findings(report: Report) -> list[str]:
    """All that have a verdict, the largest first."""
    return phrases.findings(_comparisons(report))


def tallies(report: Report) -> list[tuple[Weight, str]]:
    """Against the base that was asked for; ratios across builds stand in their tables."""
    asked = [table for table in _comparisons(report) if table.layout.base == report.base]
    return [each for table in asked for each in phrases.tally(table)]


def _first(report: Report) -> list[str]:
    """The largest differences that have a verdict, or what there is in their place."""
    found, head = findings(report), headline(report)
    more = len(found) - MOST_FINDINGS
    rest = [f"and {more} more that are faster or slower: {_table(report)}"] if more > 0 else []
    return [*found[:MOST_FINDINGS], *rest, *(head.sentences if head else ())]


def _table(report: Report) -> str:
    return " and ".join(f"`QPS relative to {each.base}`" for each in report.overviews)


def _shortened(report: Report) -> list[str]:
    """Those that weigh most, in the order of the steps."""
    found = tallies(report)
    heaviest = sorted(range(len(found)), key=lambda at: found[at][0], reverse=True)[:MOST_TALLIES]
    more = len(found) - len(heaviest)
    rest = [f"and {counted(more, 'comparison')} more, of less: {_table(report)}"] if more else []
    return [*(found[at][1] for at in sorted(heaviest)), *rest]


def _comparisons(report: Report) -> list[Comparison]:
    return [table for each in report.sections for table in each.comparisons]


def headline(report: Report) -> Headline | None:
    """Where no comparison is a difference: what was judged, and why the others were not. None where one is."""
    words = Counter(_word(entry) for entry in _entries(report))
    if not words or any(words[word] for word in DIFFERENCES):
        return None
    judged = any(words[word] for word in VERDICTS)
    return Headline(NO_DIFFERENCE if judged else NO_VERDICT, tuple(_sentences(words, judged)))


def _entries(report: Report) -> Iterator[Entry]:
    every = (entry for table in _comparisons(report) for line in table.lines for entry in line.entries)
    return (entry for entry in every if entry.kind == RATIO and entry.ratio is not None)


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
