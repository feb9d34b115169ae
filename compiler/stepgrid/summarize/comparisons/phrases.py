"""What stands in a table's cell, and the sentences that answer the question first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from stepgrid.model import number_format
from stepgrid.model.status import Status
from stepgrid.model.table import Cell
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.builds import AS_SHIPPED
from stepgrid.summarize.comparisons.comparison import ABSENT, BASE, NO_BASE, RATIO, SAME_AS, Comparison, Entry, Line
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.statistics.verdicts import FASTER, ONE_LOAD, SLOWER, VERDICTS

NO_VERDICT = "no verdict"
MARK = "*"  # on a ratio that gets no verdict; the reason stands below
DOUBT = "†"  # on a ratio that more is to be known of; that stands below
SHIPPED = "‡"  # on a verdict across builds of different quality, which the spec allows
Weight = tuple[bool, float]


def entry(found: Entry, base: str) -> str:
    if found.kind == ABSENT:
        return "-"
    if found.kind == BASE and found.point:
        return median(found.point)
    if found.kind == SAME_AS:
        return f"same as {found.same or base}"
    if found.kind == NO_BASE and found.point:
        return f"no base; {median(found.point)} QPS"
    return compared(found) if found.kind == RATIO else found.kind


def compared(found: Entry) -> str:
    """1.12 [1.08, 1.16] faster"""
    if found.ratio is None:
        return NO_BASE
    parts = [number_format.ratio(found.ratio), _interval(found)]
    parts.append(MARK if found.caveat else found.verdict or "")
    parts += [*([SHIPPED] if found.as_shipped else []), *([DOUBT] if found.doubts else [])]
    if found.point and (short := fewer(found.point)):
        parts.append(short)
    return " ".join(part for part in parts if part)


def cell(found: Entry, base: str) -> Cell:
    """The text, and behind it what data are made of."""
    text, kind = entry(found, base), found.verdict or found.kind
    if found.kind == BASE and found.point:
        return Cell(text, kind, _middle(found.point))
    if found.kind != RATIO or found.ratio is None:
        return Cell(text, kind)
    bounds = (found.interval.low, found.interval.high) if found.interval else None
    return Cell(text, kind, found.ratio, bounds, NO_VERDICT if found.caveat else found.verdict or NO_VERDICT)


def _middle(point: Point) -> float | None:
    found = point.spread()
    return found[0] if found else None


def fewer(point: Point) -> str | None:
    measured, planned = point.loads
    return f"({measured} of {planned} loads)" if measured < planned else None


def median(point: Point) -> str:
    found = point.spread()
    return number_format.rate(found[0]) if found else point.status


def tally(table: Comparison) -> Iterator[tuple[Weight, str]]:
    """readww, cache=hyper against cache=lru: 1 faster (1.50x), 2 same (0.99x to 1.01x), 1 unsupported"""
    for index, labels in enumerate(table.columns[1:], 1):
        entries = [line.entries[index] for line in table.lines]
        if all(
            each.kind in (ABSENT, Status.DONE, NO_BASE) for each in entries
        ):  # without QPS; a warning says what lacks
            continue
        arm = comparison_axes.words(labels, table.layout.across) or "-"
        yield _weight(entries), f"{table.step}, {arm} against {table.base}: {_counts(entries)}"


def _weight(entries: Sequence[Entry]) -> Weight:
    """What is certain comes before what is only large."""
    sizes = [(each.verdict in (FASTER, SLOWER), abs(math.log(each.ratio))) for each in entries if each.ratio]
    return max(sizes, default=(False, 0.0))


def _counts(entries: Sequence[Entry]) -> str:
    ratios: dict[str, list[float | None]] = {}
    for each in entries:
        if each.kind != ABSENT:
            ratios.setdefault(_word(each), []).append(each.ratio)
    known = dict.fromkeys(word for word in (*VERDICTS, *sorted(ratios)) if word in ratios)
    alone = sum(map(len, ratios.values())) == 1
    return ", ".join(_count(word, ratios[word], alone) for word in known)


def _count(word: str, found: Sequence[float | None], alone: bool) -> str:
    said = word if alone else f"{len(found)} {_MANY.get(word, word)}"
    ratios = sorted(each for each in found if each is not None)
    return f"{said} ({_range(ratios)})" if ratios else said


_MANY = {ONE_LOAD: "of one load each"}


def _range(ratios: Sequence[float]) -> str:
    ends = dict.fromkeys(f"{number_format.ratio(each)}x" for each in (ratios[0], ratios[-1]))
    return " to ".join(ends)


def _word(found: Entry) -> str:
    if found.kind == RATIO:
        return "without verdict" if found.caveat else found.verdict or "without verdict"
    if found.kind == SAME_AS:
        return f"the same run as {found.same}" if found.same else "the same run"
    return found.kind


def findings(tables: Sequence[Comparison]) -> list[str]:
    """The differences that have a verdict, the largest first."""
    found = [each for table in tables for each in _differences(table)]
    return [text for _, text in sorted(found, key=lambda pair: -pair[0])]


def _differences(table: Comparison) -> Iterator[tuple[float, str]]:
    for line in table.lines:
        for index, labels in enumerate(table.columns[1:], 1):
            each = line.entries[index]
            if each.verdict in (FASTER, SLOWER) and each.ratio and each.interval:
                size = max(each.ratio, 1 / each.ratio)
                yield size, finding(table, line, labels, each)


def finding(table: Comparison, line: Line, labels: comparison_axes.Labels, each: Entry) -> str:
    """cache=hyper against cache=lru, rocksdb-9.10.0, threads=2, readww: 1.12x [1.08, 1.16] faster"""
    arm = comparison_axes.words(labels, table.layout.across)
    where = ", ".join(part for part in (comparison_axes.words(line.labels, table.layout.down), table.step) if part)
    figures = f"{number_format.ratio(each.ratio or 0)}x {_interval(each)}"
    shipped = f", {AS_SHIPPED}" if each.as_shipped else ""
    return f"{arm} against {table.base}, {where}{shipped}: {figures} {each.verdict}"


def _interval(each: Entry) -> str:
    return number_format.ratio_interval(each.interval.low, each.interval.high) if each.interval else ""
