"""Beside the differences of a report: what their builds differ in, and what they used more or less of, ranked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stepgrid.model import number_format
from stepgrid.model.table import ROWS, Cell, Column, Table
from stepgrid.model.units import counted
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.causes import causes
from stepgrid.summarize.comparisons.comparison import Comparison, Entry, Line
from stepgrid.summarize.comparisons.overview import Overview
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics.verdicts import DIFFERENCES

FEW = 2  # defaults that are named: of more each alone is no cause
NOTHING = "no cause among CPU, device, context switches, misses and stalls"
TITLE = "why"


def table(report: Report, found: Overview) -> Table | None:
    """A row for each difference, the largest first."""
    rows = sorted(_rows(report, found), key=lambda row: -row[0])
    if not rows:
        return None
    heads = ("step", *found.down, "arm", "ratio", TITLE)
    columns = tuple(Column(name, label=True) for name in heads)
    title = f"{TITLE}: differences from {found.base}"
    return Table(title, columns, tuple(tuple(map(Cell, texts)) for _, texts in rows))


def short(report: Report, found: Overview) -> Table | None:
    """No longer than anybody reads."""
    whole = table(report, found)
    if whole is None or len(whole.rows) <= ROWS:
        return whole
    more = f'and {counted(len(whole.rows) - ROWS, "difference")} more: `--table "{whole.title}"`'
    return replace(whole, rows=whole.rows[:ROWS], notes=(more,))


def _rows(report: Report, found: Overview) -> Iterator[tuple[float, tuple[str, ...]]]:
    for compared in found.tables:
        for line in compared.lines:
            at = dict(zip(compared.layout.down, line.labels, strict=True))
            for index, entry in enumerate(line.entries):
                if entry.verdict in DIFFERENCES and entry.ratio:
                    arm = comparison_axes.words(compared.columns[index], compared.layout.across)
                    labels = (at.get(name) or "-" for name in found.down)
                    said = "; ".join(of(report, compared, line, entry)) or NOTHING
                    texts = (compared.step, *labels, arm, number_format.times(entry.ratio), said)
                    yield max(entry.ratio, 1 / entry.ratio), texts


def of(report: Report, compared: Comparison, line: Line, entry: Entry) -> list[str]:
    """Few differences of the builds come first: one default that changed is what the figures follow from."""
    base = line.entries[0].point
    if entry.point is None or base is None:
        return []
    named = list(_builds(report, compared, entry))
    return [*named, *causes(entry.point, base)] if len(named) <= FEW else [*causes(entry.point, base), _many(named)]


def _many(named: list[str]) -> str:
    return f"{counted(len(named), 'default')} of the builds differ"


def _builds(report: Report, compared: Comparison, entry: Entry) -> Iterator[str]:
    """Patches, and defaults of options that the spec leaves to the builds."""
    if comparison_axes.BUILD not in compared.layout.across or entry.point is None:
        return
    run = entry.point.runs[0]
    if run.build_id in report.builds:
        yield from (f"patch {name}" for name in report.builds[run.build_id].patches)
    based = dict(zip(compared.layout.across, compared.columns[0], strict=True)).get(comparison_axes.BUILD)
    if report.defaults and based == report.defaults.base and run.build in report.defaults.others:
        changes = report.defaults.changes(report.defaults.others.index(run.build))
        yield from (f"default {change}" for change in changes)
