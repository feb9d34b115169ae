"""What a report says first: the largest differences, and each arm against the base; of much, what weighs most."""

from __future__ import annotations

from stepgrid.model.units import counted
from stepgrid.summarize.comparisons import headline as headlines
from stepgrid.summarize.comparisons import phrases
from stepgrid.summarize.comparisons.comparison import Comparison
from stepgrid.summarize.comparisons.headline import Headline
from stepgrid.summarize.comparisons.phrases import Weight
from stepgrid.summarize.report import Report

MOST_FINDINGS, MOST_TALLIES = 6, 12


def lines(report: Report) -> list[str]:
    return [*_first(report), *_shortened(report)]


def findings(report: Report) -> list[str]:
    """All that have a verdict, the largest first."""
    return phrases.findings(_comparisons(report))


def tallies(report: Report) -> list[tuple[Weight, str]]:
    """Against the base that was asked for; ratios across builds stand in their tables."""
    asked = [table for table in _comparisons(report) if table.layout.base == report.base]
    return [each for table in asked for each in phrases.tally(table)]


def headline(report: Report) -> Headline | None:
    return headlines.headline(_comparisons(report))


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
