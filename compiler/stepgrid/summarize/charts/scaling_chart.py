"""QPS along an axis of numbers, such as threads: a line for each arm, its band from the lowest to the highest load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stepgrid.model.plan import Axis
from stepgrid.model.units import number
from stepgrid.summarize.charts import drawing
from stepgrid.summarize.charts.step_charts import Picture
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.report import Section

FEWEST = 3  # labels that are worth a line
LINES, MOST = 8, 9  # of a chart, and charts of a step
WIDTH, HEIGHT, LEFT, TOP = 330, 200, 52, 24


class Line(NamedTuple):
    name: str
    group: str  # the chart that it stands in
    places: tuple[tuple[float, float, float, float], ...]  # at, median, lowest, highest


def pictures(section: Section) -> list[Picture]:
    axis = numeric(section)
    if axis is None:
        return []
    lines = list(_lines(section, axis))
    groups = {
        name: [each for each in lines if each.group == name] for name in dict.fromkeys(each.group for each in lines)
    }
    title = f"{section.step}: QPS by {axis.name}"
    named = [(f"{title}, {name}" if name else title, found) for name, found in groups.items()]
    ticks = [(at, label) for label in axis.labels if (at := value(label)) is not None]
    return [Picture(said, _drawn(said, axis.name, ticks, found[:LINES])) for said, found in named[:MOST]]


def numeric(section: Section) -> Axis | None:
    """The axis with the most labels, all of them numbers."""
    found = [
        axis
        for axis in section.axes
        if axis.name != comparison_axes.BUILD and len({value(label) for label in axis.labels} - {None}) >= FEWEST
    ]
    whole = [axis for axis in found if all(value(label) is not None for label in axis.labels)]
    return max(whole, key=lambda axis: len(axis.labels), default=None)


def value(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        found = number(label)
        return None if found is None else float(found)


def _lines(section: Section, axis: Axis) -> Iterator[Line]:
    """What all other axes leave together; the first of them makes charts of their own where there are many."""
    names = [name for name in section.names if name != axis.name]
    found: dict[comparison_axes.Labels, list[Point]] = {}
    for point in section.points:
        found.setdefault(comparison_axes.key(point, names), []).append(point)
    apart = len(found) > LINES and len(names) > 1
    for labels, points in found.items():
        if places := tuple(sorted(_places(points, axis.name))):
            group = comparison_axes.words(labels[:1], names[:1]) if apart else ""
            rest = (labels[1:], names[1:]) if apart else (labels, names)
            yield Line(comparison_axes.words(*rest), group, places)


def _places(points: Sequence[Point], axis: str) -> Iterator[tuple[float, float, float, float]]:
    for point in points:
        at, found = value(point.labels.get(axis, "")), point.spread()
        if at is not None and found:
            yield (at, *found)


def _drawn(title: str, axis: str, ticks: Sequence[tuple[float, str]], lines: Sequence[Line]) -> str:
    foot, right = TOP + HEIGHT, LEFT + WIDTH
    across = drawing.scale([at for at, _ in ticks], LEFT + 12, right - 12)
    up = drawing.scale([place[3] for each in lines for place in each.places], foot, TOP, from_zero=True)
    parts = [drawing.across(across, TOP, foot, axis, ticks), drawing.up(up, LEFT, right, "QPS")]
    for index, each in enumerate(lines):
        parts += _line(each, drawing.colour_of(index), across, up)
    below = foot + 3.5 * drawing.LINE
    parts.append(drawing.legend([each.name for each in lines], LEFT, below))
    return drawing.svg(title, right + 8, below + drawing.LINE * (len(lines) if len(lines) > 1 else 0), *parts)


def _line(each: Line, colour: str, across: drawing.Scale, up: drawing.Scale) -> list[str]:
    band = [(across(at), up(high)) for at, _, _, high in each.places]
    band += [(across(at), up(low)) for at, _, low, _ in reversed(each.places)]
    middle = [(across(at), up(median)) for at, median, _, _ in each.places]
    marks = [
        drawing.dot(x, y, colour, f"{each.name} {place[0]:g}: {drawing.short(place[1])}".strip())
        for (x, y), place in zip(middle, each.places, strict=True)
    ]
    return [drawing.area(band, colour), drawing.path(middle, colour), *marks]
