"""The forms of charts: ratios, lines along numbers or over time, marks of two figures, a map; data in, SVG out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from statistics import fmean
from typing import NamedTuple

from stepgrid.model import units
from stepgrid.summarize.charts import drawing
from stepgrid.summarize.charts.drawing import LINE, Scale

# Ratios


class Ratio(NamedTuple):
    """A ratio of an arm at a point; without ends there is no interval, hollow where there is no verdict."""

    point: str
    arm: str
    ratio: float
    ends: tuple[float, float] | None
    is_judged: bool


BAND = "#ececec"  # within it a difference is none
RATIO_TICKS = (
    *(0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0),
)
FARTHEST = 1e50  # a ratio that is farther from 1 is drawn there
SIDE = 60  # pixels that the name of a side takes
TICK_ROOM = 34  # pixels between the labels of two ticks


def ratios(title: str, rows: Sequence[Ratio], arms: Sequence[str], effect: float, width: float = 250) -> str:
    """Draw ratios with their intervals on a logarithmic scale whose sides are named."""
    points = list(dict.fromkeys(row.point for row in rows))
    left = drawing.text_width(points) + 10
    step = min(20, max(8 if len(arms) > 1 else 16, 600 // (len(points) * len(arms))))
    top, height = 22, len(points) * (step * len(arms) + 6)
    scale = _ratio_scale(rows, effect, left, left + width)
    foot, ones = top + height, scale(1.0)
    band = scale.clamp(1 / (1 + effect)), scale(1 + effect)
    parts = [
        drawing.rectangle((band[0], top), (band[1] - band[0], height), BAND),
        drawing.text((ones - 8, top - 8), "◀ slower", "end", drawing.SOFT) if ones - left > SIDE else "",
        drawing.text((ones + 8, top - 8), "faster ▶", "start", drawing.SOFT) if left + width - ones > SIDE else "",
        drawing.x_axis(scale, (top, foot), "ratio", _ratio_ticks(scale)),
        drawing.line((ones, top), (ones, foot), drawing.SOFT),
    ]
    for number, point in enumerate(points):
        start = top + number * (step * len(arms) + 6) + 3
        parts.append(drawing.text((left - 6, start + step * len(arms) / 2 + 4), point, "end"))
        for row in (row for row in rows if row.point == point):
            arm = arms.index(row.arm)
            y = start + (arm + 0.5) * step
            if row.ends:
                first, last = map(scale.clamp, row.ends)
                parts.append(drawing.line((first, y), (last, y), drawing.colour(arm), 2))
            title_of_mark = f"{point} {row.arm}: {units.times(row.ratio)}"
            parts.append(drawing.mark((scale.clamp(row.ratio), y), arm, title_of_mark, hollow=not row.is_judged))
    below = foot + 3.5 * LINE
    parts.append(drawing.legend(arms, left, below))
    return drawing.svg(title, left + width + 12, below + LINE * (len(arms) if len(arms) > 1 else 0), *parts)


def _ratio_scale(rows: Sequence[Ratio], effect: float, first: float, last: float) -> Scale:
    """Hold all ratios, and of the intervals what leaves the ratios apart: a single wide one would hide the others."""
    values = [_drawable(row.ratio) for row in rows] or [1.0]
    reach = max(1.15, 1 + 3 * effect, *(max(value, 1 / value) for value in values))
    ends = [_drawable(end) for row in rows for end in row.ends or () if end]
    low, high = min(1.0, *values, *ends), max(1.0, *values, *ends)
    edge = max(1.03, (high / low) ** 0.04)  # a mark at the edge would stand in the labels
    limit = min(max((max(end, 1 / end) for end in ends), default=reach), max(reach**3, 2.0))
    limit = max(limit, reach) * edge
    return Scale(
        max(1 / limit, min(low / edge, 1 / (1 + 3 * effect))),
        min(limit, max(high * edge, 1 + 3 * effect)),
        first,
        last,
        True,
    )


def _drawable(ratio: float) -> float:
    return min(max(ratio, 1 / FARTHEST), FARTHEST)


def _ratio_ticks(scale: Scale) -> list[tuple[float, str]]:
    """Choose ticks that have room, the nearest to 1 first."""
    chosen: list[float] = []
    for tick in sorted(RATIO_TICKS, key=lambda tick: abs(math.log(tick))):
        is_apart = all(abs(scale(tick) - scale(other)) >= TICK_ROOM for other in chosen)
        if scale.low <= tick <= scale.high and is_apart:
            chosen.append(tick)
    return [(tick, f"{tick:g}") for tick in sorted(chosen)]


# Lines along numbers


class Place(NamedTuple):
    """A figure at a value of an axis: its median, and its ends over the loads."""

    value: float
    figure: float
    low: float
    high: float


class Line(NamedTuple):
    name: str
    places: Sequence[Place]


def lines_by_value(
    title: str, axis: str, ticks: Sequence[tuple[float, str]], lines: Sequence[Line], figure: str
) -> str:
    """Draw a line for each arm, its band from the lowest to the highest load."""
    left, top, width, height = 52, 24, 330, 200
    foot, right = top + height, left + width
    x = drawing.scale([value for value, _ in ticks], left + 12, right - 12)
    y = drawing.scale([place.high for line in lines for place in line.places], foot, top, from_zero=True)
    parts = [drawing.x_axis(x, (top, foot), axis, ticks), drawing.y_axis(y, left, right, figure)]
    for arm, line in enumerate(lines):
        upper = [(x(place.value), y(place.high)) for place in line.places]
        lower = [(x(place.value), y(place.low)) for place in reversed(line.places)]
        middle = [(x(place.value), y(place.figure)) for place in line.places]
        parts += [drawing.area(upper + lower, drawing.colour(arm)), drawing.path(middle, drawing.colour(arm))]
        for place, spot in zip(line.places, middle, strict=True):
            figures = f"{line.name} {place.value:g}: {drawing.short(place.figure)}"
            parts.append(drawing.mark(spot, arm, figures.strip()))
    below = foot + 3.5 * LINE
    parts.append(drawing.legend([line.name for line in lines], left, below))
    return drawing.svg(title, right + 8, below + LINE * (len(lines) if len(lines) > 1 else 0), *parts)


# Lines over time

TIME_WIDTH, TIME_LEFT, TIME_TOP, TICK = 250.0, 44.0, 22.0, 7.0
TIME_POINTS = 240  # of a line; of longer runs means of several seconds are drawn
SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800)


class Panel(NamedTuple):
    """Figures over the same seconds: lines, a dashed target, and at the foot a red tick for each stall."""

    figure: str
    lines: Sequence[Sequence[tuple[float, float]]]
    top: float  # the end of its scale
    height: float = 90
    stalls: Sequence[float] = ()
    target: float | None = None


def over_time(title: str, panels: Sequence[Panel], seconds: float, names: Sequence[str] = ()) -> str:
    """Draw panels below each other on one axis of time; `names` explain the lines of the panel that has several."""
    time = Scale(0.0, seconds, TIME_LEFT, TIME_LEFT + TIME_WIDTH)
    top, parts = TIME_TOP, []
    for panel in panels:
        y = Scale(0.0, panel.top or 1.0, top + panel.height, top)
        parts.append(drawing.y_axis(y, TIME_LEFT, TIME_LEFT + TIME_WIDTH, panel.figure))
        for arm, line in enumerate(panel.lines):
            spots = [(time(second), y.clamp(value)) for second, value in _means(line)]
            width = 1.8 if len(panel.lines) == 1 else 1.2
            parts.append(drawing.path(spots, drawing.colour(arm), width) if len(spots) > 1 else _spots(spots, arm))
        pixels = sorted({round(time(second)) for second in panel.stalls})
        parts += [drawing.line((x, y.first), (x, y.first - TICK), drawing.STALL, 1.5) for x in pixels]
        if panel.target is not None:
            level = y.clamp(panel.target)
            parts.append(drawing.line((time.first, level), (time.last, level), drawing.SOFT, dashed=True))
        top += panel.height + 26
    foot = top - 26
    step = next((step for step in SECONDS if seconds / step <= 6), 3600)
    ticks = [(float(second), str(second)) for second in range(0, int(seconds) + 1, step)]
    parts.append(drawing.x_axis(time, (TIME_TOP, foot), "seconds", ticks, grid=False))
    below = foot + 3.5 * LINE
    parts.append(drawing.legend(names, TIME_LEFT, below))
    height = below + LINE * len(names) if len(names) > 1 else foot + 2.5 * LINE
    return drawing.svg(title, TIME_LEFT + TIME_WIDTH + 8, height, *parts)


def _means(line: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    together = max(1, -(-len(line) // TIME_POINTS))
    groups = ([pair for _, pair in group] for _, group in groupby(enumerate(line), lambda pair: pair[0] // together))
    return [(pairs[-1][0], fmean(value for _, value in pairs)) for pairs in groups]


def _spots(spots: Sequence[tuple[float, float]], arm: int) -> str:
    return "".join(drawing.mark(spot, arm, radius=2) for spot in spots)


# Marks of two figures


class Mark(NamedTuple):
    x: float
    y: float
    name: str
    arm: int = 0
    is_hollow: bool = False


class Plane(NamedTuple):
    """The two figures of marks; an x of `sizes` is in bytes, a y that is not `from_zero` may be logarithmic."""

    x: str
    y: str
    sizes: bool = False
    from_zero: bool = True


def marks(
    title: str, plane: Plane, marks: Sequence[Mark], paths: Sequence[Sequence[Mark]], arms: Sequence[str] = ()
) -> str:
    """Draw marks by two figures, and join those of each path."""
    left, top, width, height = 52, 24, 320, 200
    foot, right = top + height, left + width
    x = drawing.scale([mark.x for mark in marks], left + 8, right - 8)
    y = drawing.scale([mark.y for mark in marks], foot - (0 if plane.from_zero else 8), top, plane.from_zero)
    ticks = [(tick, units.size(tick)) for tick in x.size_ticks] if plane.sizes else None
    parts = [drawing.x_axis(x, (top, foot), plane.x, ticks), drawing.y_axis(y, left, right, plane.y)]
    for joined in paths:
        parts.append(drawing.path([(x(mark.x), y(mark.y)) for mark in joined], drawing.colour(joined[0].arm)))
    for mark in marks:
        parts.append(drawing.mark((x(mark.x), y(mark.y)), mark.arm, mark.name, hollow=mark.is_hollow))
    below = foot + 3.5 * LINE
    parts.append(drawing.legend(arms, left, below))
    end = below + LINE * len(arms) if len(arms) > 1 else foot + 2.5 * LINE
    return drawing.svg(title, right + 8, end, *parts)


def front(marks: Sequence[Mark], is_more_better: bool = False) -> list[Mark]:
    """Return the marks that no other one beats in both figures, by their x: the less the better, or the more."""
    sign = -1 if is_more_better else 1
    best: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: (sign * mark.x, -mark.y)):
        if not best or mark.y > best[-1].y:
            best.append(mark)
    return best[::sign]


# Percentiles beside each other


def percentiles(title: str, rows: Sequence[tuple[str, Sequence[float | None]]], names: Sequence[str], unit: str) -> str:
    """Draw a line for each point with a mark for each percentile, on a logarithmic scale."""
    left, top, width, row_height = drawing.text_width(name for name, _ in rows) + 8, 8, 280, 18
    values = [value for _, row in rows for value in row if value is not None]
    x, foot = Scale(min(values) / 1.3, max(values) * 1.3, left, left + width, True), top + row_height * len(rows)
    parts = [drawing.x_axis(x, (top, foot), unit)]
    for number, (name, row) in enumerate(rows):
        y = top + (number + 0.5) * row_height
        spots = [(arm, value) for arm, value in enumerate(row) if value is not None]
        pixels = [x(value) for _, value in spots]
        parts.append(drawing.text((left - 6, y + 4), name, "end"))
        parts.append(drawing.line((min(pixels), y), (max(pixels), y), drawing.AXIS, 1.5))
        parts += [drawing.mark((x(value), y), arm, f"{name} {names[arm]}: {value:.4g} {unit}") for arm, value in spots]
    parts.append(drawing.legend(names, left, foot + 3.5 * LINE))
    return drawing.svg(title, left + width + 8, foot + (3.5 + len(names)) * LINE, *parts)


# A map of ratios

CELL, ROW = 38, 18
FULL = math.log(2)  # a ratio of 2 or a half has the full colour
FASTER, SLOWER, PLAIN = "#1b7837", "#b35806", "#f2f2f2"


class MapCell(NamedTuple):
    ratio: float
    is_different: bool  # by its verdict


def heat_map(title: str, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[MapCell | None]]]) -> str:
    """Draw ratios as a map: a row for each point, a column for each arm; bold where the verdict is a difference."""
    left = drawing.text_width(name for name, _ in rows) + 8
    top = drawing.text_width(heads) * 0.75 + 12
    parts = []
    for column, head in enumerate(heads):
        x, y = left + (column + 0.4) * CELL, top - 5
        parts.append(f'<g transform="rotate(-45 {x:g} {y:g})">{drawing.text((x, y), head)}</g>')
    for number, (name, cells) in enumerate(rows):
        y = top + number * ROW
        parts.append(drawing.text((left - 6, y + 13), name, "end"))
        parts += [_map_cell(cell, left + column * CELL, y) for column, cell in enumerate(cells) if cell]
    width = left + len(heads) * CELL + drawing.LETTER * len(heads[-1]) * 0.75
    return drawing.svg(title, width, top + len(rows) * ROW + 4, *parts)


def _map_cell(cell: MapCell, x: float, y: float) -> str:
    share = min(1.0, abs(math.log(cell.ratio)) / FULL)
    fill = FASTER if cell.ratio > 1 else SLOWER
    weight = ' font-weight="bold"' if cell.is_different else ""
    figure = drawing.text((x + CELL / 2, y + 13), units.ratio(cell.ratio), "middle")
    corner, size = (x, y), (CELL - 1, ROW - 1)
    ground = drawing.rectangle(corner, size, PLAIN) + drawing.rectangle(corner, size, fill, 0.65 * share)
    return f"<g{weight}>{ground}{figure}</g>"


# Candidates of a search in their order


def candidates(
    title: str, names: Sequence[str], figures: Sequence[Sequence[float]], shares: Sequence[float], figure: str
) -> str:
    """Draw the figures of each candidate above how probable each is to be the one that is looked for."""
    left, top, width, height, gap, bars = 60.0, 20.0, 620.0, 200.0, 24.0, 70.0
    y = drawing.scale([value for row in figures for value in row] or [1.0], top + height, top)
    foot = top + height + gap + bars
    share_scale = Scale(0.0, 1.0, foot, foot - bars)
    parts = [
        drawing.y_axis(y, left, left + width, figure),
        drawing.y_axis(share_scale, left, left + width, "probability"),
    ]
    step = width / max(len(names), 1)
    shown = 1 + int(len(names) * 14 // width)  # of the names as many as have room
    for number, (name, row, share) in enumerate(zip(names, figures, shares, strict=True)):
        x, level = left + (number + 0.5) * step, share_scale(share)
        parts += [drawing.mark((x, y(value)), 0, f"{name}: {drawing.short(value)}") for value in row]
        if share > 0:
            parts.append(drawing.rectangle((x - step * 0.4, level), (step * 0.8, foot - level), drawing.SOFT))
        if number % shown == 0:
            spot = x + 4, foot + 12
            turned = f"rotate(-60 {spot[0]:g} {spot[1]:g})"
            parts.append(f'<g transform="{turned}">{drawing.text(spot, name, "end")}</g>')
    return drawing.svg(title, left + width + 8, foot + drawing.text_width(names) * 0.9 + 20, *parts)
