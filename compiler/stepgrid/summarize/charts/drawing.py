"""Small pieces of SVG: scales, axes and marks, for charts that are drawn here because that is smaller and quicker."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from stepgrid.model import number_format
from stepgrid.summarize.charts.vega import FONT, PALETTE

INK, SOFT, GRID = "#222", "#555", "#e4e4e4"  # dark mode turns all colours of a chart round
LETTER = 6.2  # pixels of a letter, at most
LINE = 15
LOGARITHMIC = 8  # from this range on


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to pixels."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = map(math.log, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        share = (at - low) / (high - low) if high > low else 0.5
        return round(self.first + share * (self.last - self.first), 1)

    @property
    def ticks(self) -> list[float]:
        """Round ones."""
        return _powers(self.low, self.high) if self.log else _steps(self.low, self.high)

    @property
    def size_ticks(self) -> list[float]:
        """Round ones of bytes: 36 MiB, 40 MiB."""
        if self.log:
            first, last = math.ceil(math.log2(self.low)), math.floor(math.log2(self.high))
            return [2.0**power for power in range(first, last + 1, 1 + (last - first) // 4)]
        unit = 1024.0 ** max(0, math.floor(math.log2(max(self.high, 1.0)) / 10))
        return [tick * unit for tick in _steps(self.low / unit, self.high / unit)]


def scale(values: Sequence[float], first: float, last: float, from_zero: bool = False) -> Scale:
    """Logarithmic where the values differ much and none is 0."""
    low, high = min(values), max(values)
    if from_zero:
        return Scale(0.0, high * 1.05 or 1.0, first, last)
    if low > 0 and high / low >= LOGARITHMIC:
        return Scale(low / 1.15, high * 1.15, first, last, True)
    room = (high - low or abs(high) or 1.0) * 0.08
    return Scale(low - room, high + room, first, last)


def _steps(low: float, high: float) -> list[float]:
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    return [step * at for at in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _powers(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = range(first, last + 1, 1 + (last - first) // 8)
    factors = (1,) if len(decades) > 4 else (1, 2, 5)
    return [found for power in decades for factor in factors if low <= (found := factor * 10.0**power) <= high]


def text(x: float, y: float, said: str, anchor: str = "start", colour: str = INK) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}">{escape(said)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = GRID, width: float = 1) -> str:
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{colour}" stroke-width="{width:g}"/>'


def path(points: Iterable[tuple[float, float]], colour: str) -> str:
    joined = "L".join(f"{x:g} {y:g}" for x, y in points)
    return f'<path d="M{joined}" fill="none" stroke="{colour}" stroke-width="1.8"/>'


def area(points: Iterable[tuple[float, float]], colour: str) -> str:
    joined = "L".join(f"{x:g} {y:g}" for x, y in points)
    return f'<path d="M{joined}Z" fill="{colour}" fill-opacity=".15"/>'


def dot(x: float, y: float, colour: str, said: str, radius: float = 3) -> str:
    """`said` is shown to who points at it."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}"><title>{escape(said)}</title></circle>'


def across(of: Scale, top: float, foot: float, title: str, ticks: Sequence[tuple[float, str]] | None = None) -> str:
    """An axis at the foot, with its lines."""
    marks = ticks or [(tick, short(tick)) for tick in of.ticks]
    lines = (line(of(at), top, of(at), foot) + text(of(at), foot + LINE, said, "middle") for at, said in marks)
    return "".join(lines) + text((of.first + of.last) / 2, foot + 2 * LINE, title, "middle", SOFT)


def up(of: Scale, left: float, right: float, title: str) -> str:
    """An axis at the left."""
    lines = (line(left, of(at), right, of(at)) + text(left - 5, of(at) + 4, short(at), "end") for at in of.ticks)
    return "".join(lines) + text(left - 5, min(of.first, of.last) - 8, title, "end", SOFT)


def legend(names: Sequence[str], left: float, top: float) -> str:
    if len(names) < 2:
        return ""
    places = [(colour_of(at), top + at * LINE, name) for at, name in enumerate(names)]
    return "".join(dot(left, y - 4, colour, name, 4) + text(left + 10, y, name) for colour, y, name in places)


def colour_of(at: int) -> str:
    return PALETTE[at % len(PALETTE)]


def short(value: float) -> str:
    if abs(value) >= 1000:
        return number_format.short_rate(value)
    return f"{value:.3g}"


def svg(label: str, width: float, height: float, *parts: str) -> str:
    head = f'<svg class="marks" role="img" aria-label="{escape(label)}" viewBox="0 0 {width:g} {height:g}"'
    return f'{head} width="{width:g}" height="{height:g}" font-family="{FONT}" font-size="11">{"".join(parts)}</svg>'
