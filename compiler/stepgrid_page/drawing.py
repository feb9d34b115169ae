"""Scales, axes, marks and text of charts, drawn as SVG without a library: small, quick and the same everywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from stepgrid.model import units
from stepgrid.package import TEMPLATES

Spot: TypeAlias = tuple[float, float]  # pixels: x, y
Marks: TypeAlias = Mapping[str, int]  # arm -> its mark

WIDE, NARROW = 900.0, 340.0  # pixels: of a screen, and of a phone or of one of three beside each other
LETTER = 7.3  # pixels of a letter, at most
LINE = 16
LOGARITHMIC = 8  # a scale is logarithmic where the largest value is so many times the least
MARGIN = 12  # pixels around a picture that stands alone
COLOURS = 8
# marks around 0, 0 and of radius 1, told apart in grey, too: none is a triangle, which means faster or slower
SHAPES = (
    "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0 -2 0Z",
    "M-.9 -.9H.9V.9H-.9Z",
    "M0 -1.3L1.3 0L0 1.3L-1.3 0Z",
    "M-.4 -1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
    "M-.45 -1.3H.45V1.3H-.45Z",
    "M-.6 -1.1L0 -.5L.6 -1.1L1.1 -.6L.5 0L1.1 .6L.6 1.1L0 .5L-.6 1.1L-1.1 .6L-.5 0L-1.1 -.6Z",
    "M-1.3 -.45H1.3V.45H-1.3Z",
    "M-.5 -1.1H.5L1.2 0L.5 1.1H-.5L-1.2 0Z",
)


class PageMarks(dict[str, int]):
    """Marks of the arms of a page, the next free one for an arm that has none: the same in all charts."""

    def __missing__(self, arm: str) -> int:
        self[arm] = len(self)
        return self[arm]


class Scale(Struct, frozen=True):
    """Map values to pixels."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = map(math.log, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        share = (at - low) / (high - low) if high > low else 0.5
        return round(self.first + share * (self.last - self.first), 1)

    def clamp(self, value: float) -> float:
        """Return the pixel of a value, or of the end of the scale that it is beyond."""
        return self(min(max(value, self.low), self.high))

    @property
    def ticks(self) -> list[float]:
        return _power_ticks(self.low, self.high) if self.log else _linear_ticks(self.low, self.high)

    @property
    def size_ticks(self) -> list[float]:
        """Return ticks that are round as bytes: 36 MiB, 40 MiB."""
        if self.log:
            first, last = math.ceil(math.log2(self.low)), math.floor(math.log2(self.high))
            return [2.0**power for power in range(first, last + 1, 1 + (last - first) // 4)]
        unit = 1024.0 ** max(0, math.floor(math.log2(max(self.high, 1.0)) / 10))
        return [tick * unit for tick in _linear_ticks(self.low / unit, self.high / unit)]


def scale(values: Sequence[float], first: float, last: float, from_zero: bool = False) -> Scale:
    """Fit a scale to values: logarithmic where they differ much and none is 0."""
    low, high = min(values), max(values)
    if not from_zero and is_wide(values):
        return Scale(low / 1.15, high * 1.15, first, last, True)
    if from_zero:
        return Scale(0.0, high * 1.05 or 1.0, first, last)
    room = (high - low or abs(high) or 1.0) * 0.08
    return Scale(low - room, high + room, first, last)


def is_wide(values: Sequence[float]) -> bool:
    """Return whether the values call for a logarithmic scale."""
    return min(values) > 0 and max(values) / min(values) >= LOGARITHMIC


def _linear_ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    return [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _power_ticks(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = range(first, last + 1, 1 + (last - first) // 8)
    factors = (1,) if high > low * 1e4 else (1, 2, 5)
    ticks = [tick for power in decades for factor in factors if low <= (tick := factor * 10.0**power) <= high]
    return ticks if len(ticks) > 2 else [tick for tick in _linear_ticks(low, high) if tick > 0]


def text(spot: Spot, content: str, anchor: str = "start", kind: str = "") -> str:
    x, y = spot
    name = f' class="{kind}"' if kind else ""
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}"{side}{name}>{escape(content)}</text>'


def short_text(spot: Spot, content: str, room: float, anchor: str = "start", kind: str = "") -> str:
    """Draw a text that is cut where it has no room; all of it is shown when pointed at."""
    letters = max(4, int(room / LETTER))
    if len(content) <= letters:
        return text(spot, content, anchor, kind)
    half = (letters - 1) // 2
    cut = f"{content[: letters - 1 - half]}…{content[-half:]}"
    return f"<g><title>{escape(content)}</title>{text(spot, cut, anchor, kind)}</g>"


def line(start: Spot, end: Spot, kind: str = "line", width: float = 1, dashed: bool = False) -> str:
    (x1, y1), (x2, y2) = start, end
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<path class="{kind}" d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke-width="{width:g}"{dashes}/>'


def path(points: Iterable[Spot], width: float = 2, kind: str = "") -> str:
    """Draw a line in the colour of the arm around it, or that of `kind`."""
    joined = "L".join(f"{x:g} {y:g}" for x, y in points)
    colour = f'class="{kind}"' if kind else 'fill="none" stroke="currentColor"'
    return f'<path d="M{joined}" {colour} stroke-width="{width:g}"/>'


def area(points: Iterable[Spot]) -> str:
    joined = "L".join(f"{x:g} {y:g}" for x, y in points)
    return f'<path d="M{joined}Z" fill="currentColor" fill-opacity=".15"/>'


def rectangle(corner: Spot, size: Spot, kind: str) -> str:
    box = f'x="{corner[0]:g}" y="{corner[1]:g}" width="{size[0]:g}" height="{size[1]:g}"'
    return f'<rect class="{kind}" {box}/>'


def cell(corner: Spot, size: Spot, kind: str, density: float) -> str:
    """Draw the ground of a cell; one without a kind is a frame."""
    box = f'x="{corner[0]:g}" y="{corner[1]:g}" width="{size[0]:g}" height="{size[1]:g}"'
    opacity = f' fill-opacity="{density:.2f}"' if kind else ""
    return f'<rect class="{kind or "frame"}" {box}{opacity}/>'


def of_arm(name: str, mark: int, *parts: str, title: str = "") -> str:
    """Group what belongs to an arm, in its colour; the page lights all of an arm's parts together."""
    note = f"<title>{escape(title)}</title>" if title else ""
    return f'<g class="m{mark % COLOURS}" data-arm="{escape(name)}">{note}{"".join(parts)}</g>'


def shape(spot: Spot, mark: int, radius: float = 5, is_hollow: bool = False) -> str:
    """Draw the mark of an arm; the ninth has the colour of the first, and the shape of the second."""
    colour = 'fill="currentColor"'
    if is_hollow:
        colour = f'class="hole" stroke="currentColor" stroke-width="{1.6 / radius:.2g}"'
    turn = f'transform="translate({spot[0]:g} {spot[1]:g}) scale({radius:g})"'
    return f'<path {turn} d="{SHAPES[(mark + mark // COLOURS) % len(SHAPES)]}" {colour}/>'


def dots(spots: Iterable[Spot]) -> str:
    """Draw single loads, in the colour of their arm."""
    return "".join(f'<circle cx="{x:g}" cy="{y:g}" r="1.8" fill="currentColor"/>' for x, y in spots)


def x_axis(scale: Scale, ends: Spot, title: str, ticks: Sequence[tuple[float, str]] | None = None) -> str:
    """Draw an axis at the foot; `ends`: the top and the foot of the lines of its grid."""
    top, foot = ends
    labels = room_for(scale, ticks or [(tick, short(tick)) for tick in scale.ticks])
    parts = [line((scale(value), top), (scale(value), foot)) for value, _ in labels]
    parts += [text((scale(value), foot + LINE), label, "middle", "soft") for value, label in labels]
    name = _axis_name(scale, title)
    return "".join(parts) + text(((scale.first + scale.last) / 2, foot + 2 * LINE), name, "middle", "soft")


def room_for(scale: Scale, ticks: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Drop every second tick, again and again, until the labels do not touch."""
    chosen = list(ticks)
    while len(chosen) > 2 and any(
        scale(following) - scale(tick) < LETTER * (len(name) + len(other)) / 2 + 6
        for (tick, name), (following, other) in pairwise(chosen)
    ):
        chosen = chosen[::2]
    return chosen


def y_axis(scale: Scale, start: float, end: float, title: str) -> str:
    """Draw an axis at the left, with the lines of its grid."""
    parts = []
    for tick in scale.ticks:
        y = scale(tick)
        parts += [line((start, y), (end, y)), text((start - 5, y + 4), short(tick), "end", "soft")]
    name = _axis_name(scale, title)
    return "".join(parts) + text((2, min(scale.first, scale.last) - 10), name, kind="soft")


def _axis_name(scale: Scale, title: str) -> str:
    return f"{title}, log scale" if scale.log and title else title


def legend(names: Sequence[str], marks: Marks, spot: Spot, end: float) -> tuple[str, float]:
    """Explain the marks of arms, and return the foot; nothing where there is one arm."""
    (start, top), parts = spot, []
    x, y = start, top
    for name in names if len(names) > 1 else ():
        width = min(LETTER * len(name) + 28, end - start)
        if x > start and x + width > end:
            x, y = start, y + LINE
        parts.append(of_arm(name, marks[name], shape((x + 5, y - 4), marks[name], 4.5)))
        parts.append(short_text((x + 14, y), name, end - x - 14))
        x += width
    return "".join(parts), y if parts else top - LINE


def text_width(names: Iterable[str]) -> float:
    return LETTER * max(map(len, names), default=0)


def short(value: float) -> str:
    """Shorten a figure for an axis: 1.2M, 54k, 0.125."""
    return units.short_rate(value) if abs(value) >= 1000 else f"{value:.3g}"


def svg(label: str, width: float, height: float, *parts: str) -> str:
    """Join parts to a picture; `label` is what a reader who cannot see it gets."""
    head = f'<svg class="chart" role="img" aria-label="{escape(label)}" viewBox="0 0 {width:g} {height:g}"'
    return f'{head} width="{width:g}" height="{height:g}">{"".join(parts)}</svg>'


# A picture that stands alone


def stand_alone(picture: str) -> str:
    """Give a picture its name space, colours, title and paper, so that it can be a file of its own."""
    frame = re.search(r'aria-label="([^"]*)" viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)
    if frame is None:
        raise ValueError("no chart")
    title, width, height = frame[1], float(frame[2]) + 2 * MARGIN, float(frame[3]) + 2 * MARGIN + LINE
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" aria-label="{title}" '
        f'viewBox="{-MARGIN:g} {-MARGIN - LINE:g} {width:g} {height:g}" width="{width:g}" height="{height:g}">'
    )
    paper = f'<rect class="hole" x="{-MARGIN:g}" y="{-MARGIN - LINE:g}" width="{width:g}" height="{height:g}"/>'
    name = f'<text class="bold" x="0" y="{-LINE / 2:g}">{title}</text>'
    return f"{head}<style>{_plain_style()}</style>{paper}{name}{picture[picture.index('>') + 1 :]}\n"


@cache
def _plain_style() -> str:
    """Return the rules of charts with colours in place of variables, which other programs than browsers lack."""
    css = (TEMPLATES / "report" / "chart.css").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"(--\w+): ([^;]+);", block)) for block in css.split(":root {")[1:3])
    rules = css[css.index("svg.chart {") :]
    return f"{_filled(rules, light)}@media (prefers-color-scheme: dark) {{ {_filled(rules, light | dark)} }}"


def _filled(rules: str, colours: Mapping[str, str]) -> str:
    return re.sub(r"var\((--\w+)\)", lambda name: colours[name[1]], rules)
