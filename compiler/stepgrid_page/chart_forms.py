"""Forms of charts: rows of dots, ratios and percentiles, lines along numbers and over time, trade-offs.

Data in, SVG out: nothing of a report is known here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean, median
from typing import NamedTuple

from msgspec import Struct

from stepgrid.collect.series import Span
from stepgrid.model import units
from stepgrid.model.table import group
from stepgrid_page import drawing
from stepgrid_page.drawing import LINE, NARROW, Marks, Scale, Spot

# Rows

ROW, GAP, TOP = 21.0, 16.0, 24.0  # pixels: a row, the room between groups, and that of the axis above
TALL = 40  # rows; more stand closer together
RATIO_TICKS = (
    *(0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(0.8, 0.9, 0.95, 0.98, 1.02, 1.05, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0),
)
FARTHEST = 1e50  # a ratio that is farther from 1 is drawn there
TICK_ROOM = 54  # pixels between ticks of ratios, so that their labels do not touch
SIDE = 74  # pixels that the name of a side takes
BELOW = 7.5  # pixels from a mark to the dots of its loads
LOG = 64  # pixels that `log scale` takes


class ChartRow(Struct, frozen=True):
    """A figure of an arm; `text` is how it is shown, `note` what else is told to who points at it."""

    group: str
    arm: str
    value: float
    text: str
    ends: tuple[float, float] | None = None  # of its interval
    note: str = ""
    is_hollow: bool = False  # undecided
    loads: tuple[float, ...] = ()  # drawn as dots
    tail_text: str = ""  # another figure, where there is room
    tail: tuple[float, ...] = ()  # higher percentiles


class Rows(Struct, frozen=True):
    """A chart of rows, whose arms have the marks of their page."""

    title: str
    figure: str
    rows: Sequence[ChartRow]
    marks: Marks
    sides: tuple[str, str] = ("faster", "slower")  # names of ratios above 1 and below it

    @property
    def is_single(self) -> bool:
        """Return whether a group is one row, which needs no second name."""
        return all(len([*rows]) == 1 for _, rows in groupby(self.rows, lambda row: row.group))


class _Layout(Struct, frozen=True):
    """Pixels of the names and of the plot between them and the figures."""

    width: float
    start: float
    end: float
    has_heads: bool  # a group's name stands above its rows
    arms: float  # width of their names
    gap: float  # between groups
    row: float


def figures(chart: Rows, width: float = drawing.WIDE, is_log: bool | None = None) -> str:
    """Draw figures as dots with their intervals and values; logarithmic where the largest is 8 times the least."""
    layout = _layout(chart, width)
    values = [value for row in chart.rows for value in (row.value, *row.loads, *(row.ends or ()), *row.tail)]
    wide = drawing.is_wide([row.value for row in chart.rows]) if is_log is None else is_log
    low = min((value for value in values if value > 0), default=0.0)
    if wide and low > 0:
        scale = Scale(low / 1.12, max(max(values), low * 1.01) * 1.12, layout.start, layout.end, True)
    else:
        scale = Scale(0.0, max(values) * 1.02 or 1.0, layout.start, layout.end)
    return _draw(chart, layout, scale, [(tick, drawing.short(tick)) for tick in scale.ticks])


def ratios(chart: Rows, effect: float, width: float = drawing.WIDE) -> str:
    """Draw ratios with their intervals on a logarithmic scale with named sides, and in grey what counts as none."""
    layout = _layout(chart, width)
    scale = _ratio_scale(chart.rows, effect, layout.start, layout.end)
    foot, ones = _height(chart, layout), scale(1.0)
    band = scale.clamp(1 / (1 + effect)), scale.clamp(1 + effect)
    upper, lower = chart.sides
    sides = [
        drawing.rectangle((band[0], TOP), (max(band[1] - band[0], 1), foot - TOP), "band"),
        drawing.line((ones, TOP), (ones, foot), "one"),
        drawing.text((ones - 8, foot + LINE), f"◀ {lower}", "end", "soft") if ones - layout.start > SIDE else "",
        drawing.text((ones + 8, foot + LINE), f"{upper} ▶", kind="soft") if width - ones > SIDE else "",
    ]
    return _draw(chart, layout, scale, _ratio_ticks(scale), "".join(sides))


def percentiles(chart: Rows) -> str:
    """Draw the first percentile of each arm as its mark, and a line to the others, on a logarithmic scale."""
    layout = _layout(chart, drawing.NARROW)
    values = [value for row in chart.rows for value in (row.value, *row.tail) if value > 0]
    scale = Scale(min(values) / 1.3, max(values) * 1.3, layout.start, layout.end, True)
    return _draw(chart, layout, scale, [(tick, drawing.short(tick)) for tick in scale.ticks])


def _layout(chart: Rows, width: float) -> _Layout:
    """Give names a third of the width; a group whose name is longer has a line of its own."""
    arms = 0.0 if chart.is_single else drawing.text_width(row.arm for row in chart.rows) + 18
    names = [row.group for row in chart.rows]
    groups = drawing.text_width(names) * 1.06 + 12 if any(names) else 0.0
    most = width * (0.42 if width > drawing.NARROW else 0.36)
    has_heads = bool(groups) and groups + arms > most
    start = min(arms if has_heads else groups + arms, most) or 4.0
    figure = drawing.text_width(_row_text(row, width) for row in chart.rows) + 20
    row = ROW if len(chart.rows) <= TALL else max(16.0, ROW * TALL / len(chart.rows))
    gap = (6.0 if chart.is_single and not has_heads else GAP) if groups else 0.0
    return _Layout(width, start, width - figure, has_heads, arms, gap, row)


def _height(chart: Rows, layout: _Layout) -> float:
    groups = len([*groupby(chart.rows, lambda row: row.group)])
    return TOP + len(chart.rows) * layout.row + groups * (layout.gap + (LINE if layout.has_heads else 0))


def _draw(chart: Rows, layout: _Layout, scale: Scale, ticks: Sequence[tuple[float, str]], ground: str = "") -> str:
    """Draw axis, groups and rows above a ground, which writes the names of the sides at its foot."""
    end = _height(chart, layout)
    parts = [ground, drawing.text((0, TOP - 8), "log scale", kind="soft") if scale.log and layout.start > LOG else ""]
    for value, label in drawing.room_for(scale, ticks):
        x = scale(value)
        parts += [drawing.line((x, TOP), (x, end)), drawing.text((x, TOP - 8), label, "middle", "soft")]
    y = TOP + layout.gap / 2
    for name, rows in groupby(chart.rows, lambda row: row.group):
        members = [*rows]
        height = len(members) * layout.row
        if layout.has_heads:
            parts.append(drawing.short_text((0, y + 12), name, layout.width, kind="bold"))
            y += LINE
        elif name:
            room = (layout.start - layout.arms) / 1.06
            parts.append(drawing.short_text((0, y + height / 2 + 4), name, room, kind="bold"))
        parts += [_row(chart, layout, scale, row, y + (index + 0.5) * layout.row) for index, row in enumerate(members)]
        y += height + layout.gap
    return drawing.svg(chart.title, layout.width, end + (LINE + 8 if ground else 4), *parts)


def _row(chart: Rows, layout: _Layout, scale: Scale, row: ChartRow, y: float) -> str:
    mark, x = chart.marks[row.arm], scale.clamp(row.value)
    parts, end = [], x
    if layout.arms:
        parts.append(drawing.short_text((layout.start - 10, y + 4), row.arm, layout.start - 10, "end", "soft"))
    if row.ends:
        first, last = scale.clamp(row.ends[0]), scale.clamp(row.ends[1])
        parts.append(drawing.path([(first, y), (last, y)], 3))
        parts += [
            drawing.path([(tip - side * 6, y - 5), (tip, y), (tip - side * 6, y + 5)])
            for tip, side in ((first, -1), (last, 1))
            if (row.ends[1] > scale.high if side > 0 else row.ends[0] < scale.low)
        ]
        end = max(end, last)
    if row.loads:
        parts.append(drawing.dots([(scale.clamp(value), y + BELOW) for value in row.loads]))
        end = max(end, *map(scale.clamp, row.loads))
    if row.tail:
        tail = [scale.clamp(value) for value in row.tail]
        parts.append(drawing.path([(x, y), (tail[-1], y)], 1.5))
        parts += [drawing.path([(spot, y - 4), (spot, y + 4)], 2.5) for spot in tail]
        end = max(end, *tail)
    parts += [drawing.shape((x, y), mark, is_hollow=row.is_hollow)]
    parts.append(drawing.text((end + 10, y + 4), _row_text(row, layout.width)))
    title = f"{', '.join(filter(None, (row.group, row.arm)))}: {row.text}{row.note and f', {row.note}'}"
    return drawing.of_arm(row.arm, mark, *parts, title=title)


def _row_text(row: ChartRow, width: float) -> str:
    return " · ".join(filter(None, (row.text, row.tail_text if width > drawing.NARROW else "")))


def _ratio_scale(rows: Sequence[ChartRow], effect: float, first: float, last: float) -> Scale:
    """Hold all ratios, and of the intervals what leaves the ratios apart: a single wide one would hide the others."""
    values = [_drawable(row.value) for row in rows] or [1.0]
    reach = max(1.15, 1 + 3 * effect, *(max(value, 1 / value) for value in values))
    ends = [_drawable(end) for row in rows for end in row.ends or () if end]
    low, high = min(1.0, *values, *ends), max(1.0, *values, *ends)
    edge = max(1.03, (high / low) ** 0.04)  # a mark at the edge would stand in the labels
    limit = min(max((max(end, 1 / end) for end in ends), default=reach), max(reach**3, 2.0))
    limit = max(limit, reach) * edge
    least, most = min(low / edge, 1 / (1 + 3 * effect)), max(high * edge, 1 + 3 * effect)
    return Scale(max(1 / limit, least), min(limit, most), first, last, True)


def _drawable(ratio: float) -> float:
    return min(max(ratio, 1 / FARTHEST), FARTHEST)


def _ratio_ticks(scale: Scale) -> list[tuple[float, str]]:
    """Choose ticks that have room, the nearest to 1 first."""
    chosen: list[float] = []
    for tick in sorted(RATIO_TICKS, key=lambda tick: abs(math.log(tick))):
        is_apart = all(abs(scale(tick) - scale(other)) >= TICK_ROOM for other in chosen)
        if scale.low <= tick <= scale.high and is_apart:
            chosen.append(tick)
    return [(tick, f"{tick:g}×") for tick in sorted(chosen)]


START, HEIGHT = 46.0, 190.0  # pixels: of the names of y, and a plot

# Lines along numbers


class LinePoint(NamedTuple):
    """A figure at a value of an axis: the mean, and the ends over the loads."""

    value: float
    figure: float
    low: float
    high: float


class ChartLine(NamedTuple):
    arm: str
    points: Sequence[LinePoint]


class Axes(NamedTuple):
    """Names of both scales; `ticks`: those of x, where they are not of its own choice."""

    x: str
    y: str
    ticks: Sequence[tuple[float, str]] | None = None
    has_sizes: bool = False  # x is in bytes
    from_zero: bool = True  # of y; else it may be logarithmic
    limits: Sequence[tuple[str, float]] = ()  # arms, and values of x that are drawn as a line


def lines_by_value(title: str, axes: Axes, lines: Sequence[ChartLine], marks: Marks) -> str:
    """Draw a line for each arm, its band from the lowest to the highest load."""
    foot, right = TOP + HEIGHT, NARROW - 14
    x = drawing.scale([point.value for line in lines for point in line.points], START + 8, right - 8)
    y = drawing.scale([point.high for line in lines for point in line.points], foot, TOP, from_zero=axes.from_zero)
    parts = [drawing.x_axis(x, (TOP, foot), axes.x, axes.ticks), drawing.y_axis(y, START, right, axes.y)]
    for line in lines:
        mark = marks[line.arm]
        upper = [(x(point.value), y.clamp(point.high)) for point in line.points]
        lower = [(x(point.value), y.clamp(point.low)) for point in reversed(line.points)]
        middle = [(x(point.value), y(point.figure)) for point in line.points]
        shapes = (drawing.shape(spot, mark, 4) for spot in middle)
        drawn = drawing.area(upper + lower), drawing.path(middle), *shapes
        parts.append(drawing.of_arm(line.arm, mark, *drawn, title=line.arm))
    legend, end = drawing.legend([line.arm for line in lines], marks, (START, foot + 3.4 * LINE), NARROW)
    return drawing.svg(title, NARROW, end + 8, *parts, legend)


# Marks of two figures


class Mark(NamedTuple):
    x: float
    y: float
    name: str
    arm: str = ""
    note: str = ""
    is_hollow: bool = False


def trade_off(title: str, axes: Axes, points: Sequence[Mark], fronts: Sequence[Sequence[Mark]], marks: Marks) -> str:
    """Draw marks by two figures, name as many as have room, and join those that no other one beats."""
    width, foot, right = NARROW, TOP + HEIGHT + 30, NARROW - 14
    x = drawing.scale([*(point.x for point in points), *(value for _, value in axes.limits)], START + 12, right - 12)
    y = drawing.scale([point.y for point in points], foot - (0 if axes.from_zero else 8), TOP + 6, axes.from_zero)
    ticks = [(tick, units.size(tick)) for tick in x.size_ticks] if axes.has_sizes else axes.ticks
    parts = [drawing.x_axis(x, (TOP, foot), axes.x, ticks), drawing.y_axis(y, START, right, axes.y)]
    for arm, value in axes.limits:
        limit = drawing.path([(x(value), TOP), (x(value), foot)], 1)
        parts.append(drawing.of_arm(arm, marks[arm], limit, title=f"{arm}: {value:.4g} at most"))
    for front in fronts:
        spots, arm = _spots(front, x, y), front[0].arm
        if all(point.arm == arm for point in front):
            parts.append(drawing.of_arm(arm, marks[arm], drawing.path(spots, 1.5)))
        else:
            parts.append(drawing.path(spots, 1.5, "load"))
    best = {point for front in fronts for point in front}
    for point in points:
        mark, spot = marks[point.arm], (x(point.x), y(point.y))
        title_of_mark = f"{', '.join(filter(None, (point.name, point.arm)))}: {point.note}"
        drawn = drawing.shape(spot, mark, 5 if point in best else 4, point.is_hollow)
        parts.append(drawing.of_arm(point.arm, mark, drawn, title=title_of_mark))
    ordered = [*(point for point in points if point in best), *(point for point in points if point not in best)]
    parts += _names(ordered, x, y, (START, right))
    arms = list(dict.fromkeys(point.arm for point in points if point.arm))
    legend, end = drawing.legend(arms, marks, (START, foot + 3.4 * LINE), width)
    return drawing.svg(title, width, end + 8, *parts, legend)


def _spots(points: Sequence[Mark], x: Scale, y: Scale) -> list[Spot]:
    return [(x(point.x), y(point.y)) for point in points]


def _names(points: Sequence[Mark], x: Scale, y: Scale, sides: Spot) -> Iterator[str]:
    """Name points beside them where no other mark or name is in the way."""
    boxes = [(x - 6, y - 6, x + 6, y + 6) for x, y in _spots(points, x, y)]
    for point, (at, level) in zip(points, _spots(points, x, y), strict=True):
        width = drawing.LETTER * len(point.name)
        for start, middle in ((at + 9, level), (at - 9 - width, level), (at - width / 2, level - 13)):
            end, top, foot = start + width, middle - 7, middle + 7
            is_inside = sides[0] <= start and end <= sides[1] + 12
            is_free = all(start >= box[2] or box[0] >= end or top >= box[3] or box[1] >= foot for box in boxes)
            if point.name and is_inside and is_free:
                boxes.append((start, top, end, foot))
                yield drawing.text((start, middle + 4), point.name, kind="soft")
                break


def front(points: Sequence[Mark], is_more_better: bool) -> list[Mark]:
    """Return the points that no other one beats in both figures, by their x: the less the better, or the more."""
    sign = -1 if is_more_better else 1
    best: list[Mark] = []
    for point in sorted(points, key=lambda point: (sign * point.x, -point.y)):
        if not best or point.y > best[-1].y:
            best.append(point)
    return best[::sign]


# Lines over time

COLUMNS = 4  # places of marks on lines
TIME_POINTS = 160  # of a line; of longer runs means of several seconds are drawn
SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400)
Series = Sequence[tuple[float, float]]  # second, figure
MARK_GAP, MARK_ROW, LEAST_MARK = 4.0, 13.0, 1.5  # pixels: above the marks, a row of them, and the shortest one


class TimeLine(Struct, frozen=True):
    """Series of an arm: a thin line for each load, and their median."""

    arm: str
    loads: Sequence[Series]


class Panel(Struct, frozen=True):
    """Arms over the same seconds; `events` are marks at its foot, by their name, `dips` bands down to the last."""

    figure: str
    lines: Sequence[TimeLine]
    events: Mapping[str, Sequence[Span]] = {}
    dips: Sequence[Span] = ()
    target: float | None = None
    height: float = 150
    most: float | None = None  # the end of its scale, where several panels share it


def over_time(title: str, panels: Sequence[Panel], marks: Marks) -> str:
    """Draw panels below each other on one axis of time."""
    right = NARROW - 8
    seconds = max(load[-1][0] for panel in panels for line in panel.lines for load in line.loads if load)
    start = max(START, drawing.text_width(name for panel in panels for name in panel.events) + 4)
    time, top, parts = Scale(0.0, seconds, start, right), TOP, []
    for panel in panels:
        drawn, top = _panel(panel, time, top, marks)
        parts += [*drawn]
    foot = top - 26
    step = next((step for step in SECONDS if seconds / step <= 6), 36000)
    ticks = [(float(second), str(second)) for second in range(0, int(seconds) + 1, step)]
    parts.append(drawing.x_axis(time, (foot, foot), "seconds", ticks))
    arms = list(dict.fromkeys(line.arm for panel in panels for line in panel.lines))
    legend, end = drawing.legend(arms, marks, (START, foot + 3.4 * LINE), NARROW)
    return drawing.svg(title, NARROW, end + 8, *parts, legend)


def _panel(panel: Panel, time: Scale, top: float, marks: Marks) -> tuple[list[str], float]:
    """Draw a panel, and return where the next one begins."""
    most = panel.most or max(value for line in panel.lines for load in line.loads for _, value in load) * 1.04
    foot = top + panel.height
    y = Scale(0.0, most or 1.0, foot, top)
    parts = [drawing.y_axis(y, time.first, time.last, panel.figure)]
    binned = [[_means(load, time.high) for load in line.loads if load] for line in panel.lines]
    for loads in binned:
        if len(loads) > 1:
            parts += [drawing.path(_time_spots(load, time, y), 1, "load") for load in loads]
    for line, loads in zip(panel.lines, binned, strict=True):
        parts.append(_median_line(line.arm, marks[line.arm], _time_spots(_median(loads), time, y)))
    if panel.target is not None:
        level = y.clamp(panel.target)
        parts.append(drawing.line((time.first, level), (time.last, level), "one", dashed=True))
    foot += MARK_GAP if panel.events else 0.0
    for name, spans in panel.events.items():
        foot += MARK_ROW
        kind = "stall" if name == "stalls" else "one"
        height = foot - 4.5
        parts += [drawing.line((first, height), (last, height), kind, 9) for first, last in _pixels(spans, time)]
        parts.append(drawing.text((time.first - 4, foot), name, "end", "soft"))
    bands = [
        drawing.rectangle((first, top), (last - first, foot - top), "band") for first, last in _pixels(panel.dips, time)
    ]
    return bands + parts, foot + 26


def _pixels(spans: Sequence[Span], time: Scale) -> list[Spot]:
    """Place spans of seconds; those that would touch are one, as there may be thousands."""
    joined: list[Spot] = []
    for begin, end in sorted(spans):
        first, last = time.clamp(begin), time.clamp(end)
        last = max(last, first + LEAST_MARK)
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return joined


def _median_line(arm: str, mark: int, spots: Sequence[Spot]) -> str:
    """Draw a bold line with three marks of its arm, at other places than those of its neighbours."""
    start = (1 + mark % COLUMNS) * len(spots) // (3 * COLUMNS)
    chosen = spots[start :: max(1, len(spots) // 3)] if len(spots) > 3 else spots
    drawn = drawing.path(spots, 2.2) if len(spots) > 1 else ""
    return drawing.of_arm(arm, mark, drawn, *(drawing.shape(spot, mark, 4) for spot in chosen), title=arm)


def _means(load: Series, seconds: float) -> dict[float, float]:
    """Return the mean of each piece of time, by its middle. A second is named by its end."""
    piece = max(1.0, seconds / TIME_POINTS)
    groups = group((max(0, math.ceil(second / piece) - 1), value) for second, value in load)
    return {(number + 0.5) * piece: fmean(values) for number, values in groups.items()}


def _median(loads: Sequence[dict[float, float]]) -> dict[float, float]:
    """Return the median over the loads where at least half of them go on."""
    values = group(pair for load in loads for pair in load.items())
    return {second: median(values[second]) for second in sorted(values) if 2 * len(values[second]) >= len(loads)}


def _time_spots(load: dict[float, float], time: Scale, y: Scale) -> list[Spot]:
    return [(time.clamp(second), y.clamp(value)) for second, value in load.items()]
