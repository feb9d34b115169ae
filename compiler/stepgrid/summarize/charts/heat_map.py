"""Ratios to a base as a map, where there are many arms: a row per step and point, a column per arm."""

from __future__ import annotations

import math
from collections.abc import Iterator

from stepgrid.model import number_format
from stepgrid.summarize.charts import drawing
from stepgrid.summarize.charts.step_charts import Picture
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import RATIO, Entry
from stepgrid.summarize.comparisons.overview import Overview
from stepgrid.summarize.statistics.verdicts import DIFFERENCES

FEWEST, MOST = 6, 1500  # arms; cells
CELL, ROW = 38, 18
FULL = math.log(2)  # a ratio of 2 or a half has the full colour
FASTER, SLOWER, PLAIN = "#1b7837", "#b35806", "#f2f2f2"


def picture(found: Overview) -> Picture | None:
    if len(found.heads) < FEWEST or not 1 < len(found.rows) * len(found.heads) <= MOST:
        return None
    title = f"QPS relative to {found.base}, all arms"
    names = [", ".join(filter(None, (row.step, comparison_axes.words(row.labels, found.down)))) for row in found.rows]
    left = drawing.LETTER * max(map(len, names)) + 8
    top = drawing.LETTER * max(map(len, found.heads)) * 0.75 + 12
    parts = [*_heads(found, left, top)]
    for at, (name, row) in enumerate(zip(names, found.rows, strict=True)):
        y = top + at * ROW
        parts.append(drawing.text(left - 6, y + 13, name, "end"))
        parts += [_cell(entry, left + index * CELL, y) for index, entry in enumerate(row.entries[1:])]
    width = left + len(found.heads) * CELL + drawing.LETTER * len(found.heads[-1]) * 0.75
    return Picture(title, drawing.svg(title, width, top + len(names) * ROW + 4, *parts))


def _heads(found: Overview, left: float, top: float) -> Iterator[str]:
    for index, head in enumerate(found.heads):
        x, y = left + (index + 0.4) * CELL, top - 5
        yield f'<g transform="rotate(-45 {x:g} {y:g})">{drawing.text(x, y, head)}</g>'


def _cell(entry: Entry, x: float, y: float) -> str:
    if entry.kind != RATIO or entry.ratio is None:
        return ""
    size = min(1.0, abs(math.log(entry.ratio)) / FULL)
    colour = FASTER if entry.ratio > 1 else SLOWER
    box = f'x="{x:g}" y="{y:g}" width="{CELL - 1}" height="{ROW - 1}"'
    ground = f'<rect {box} fill="{PLAIN}"/><rect {box} fill="{colour}" fill-opacity="{0.65 * size:.2f}"/>'
    weight = ' font-weight="bold"' if entry.verdict in DIFFERENCES else ""
    said = drawing.text(x + CELL / 2, y + 13, number_format.ratio(entry.ratio), "middle")
    return f"<g{weight}>{ground}{said}</g>"
