"""Scales, axes, marks and panels of charts, drawn as SVG without a library: small, quick and the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from stepgrid.model import units

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
# Okabe and Ito: told apart by colour-blind readers, dark enough for white paper
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7a5c00", "#56B4E9", "#000000", "#E69F00")
INK, SOFT, GRID, AXIS, STALL = "#222", "#555", "#e4e4e4", "#999", "#c00000"  # dark mode turns a chart's colours round
Spot: TypeAlias = tuple[float, float]  # pixels: x, y; or a width and a height

LETTER = 6.9  # pixels of a letter, at most
LINE = 15
LOGARITHMIC = 8  # a scale is logarithmic where the largest value is so many times the least
# what a mark of an arm looks like, around 0, 0 and of radius 1: told apart in grey, too
SHAPES = (
    "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0 -2 0Z",
    "M-.9 -.9H.9V.9H-.9Z",
    "M0 -1.1L1.1 .9H-1.1Z",
    "M0 -1.3L1.3 0L0 1.3L-1.3 0Z",
    "M-.4 -1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
    "M0 1.1L1.1 -.9H-1.1Z",
    "M1.1 0L-.9 1.1V-1.1Z",
    "M-1.1 0L.9 1.1V-1.1Z",
)


@dataclass(frozen=True, slots=True)
class Scale:
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
    if from_zero:
        return Scale(0.0, high * 1.05 or 1.0, first, last)
    if low > 0 and high / low >= LOGARITHMIC:
        return Scale(low / 1.15, high * 1.15, first, last, True)
    room = (high - low or abs(high) or 1.0) * 0.08
    return Scale(low - room, high + room, first, last)


def _linear_ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    return [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _power_ticks(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = range(first, last + 1, 1 + (last - first) // 8)
    factors = (1,) if len(decades) > 4 else (1, 2, 5)
    return [tick for power in decades for factor in factors if low <= (tick := factor * 10.0**power) <= high]


def colour(arm: int) -> str:
    return PALETTE[arm % len(PALETTE)]


def text(spot: Spot, content: str, anchor: str = "start", fill: str = INK) -> str:
    x, y = spot
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}">{escape(content)}</text>'


def line(start: Spot, end: Spot, stroke: str = GRID, width: float = 1, dashed: bool = False) -> str:
    (x1, y1), (x2, y2) = start, end
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{stroke}" stroke-width="{width:g}"{dashes}/>'


def path(points: Iterable[Spot], stroke: str, width: float = 1.8) -> str:
    joined = "L".join(f"{x:g} {y:g}" for x, y in points)
    return f'<path d="M{joined}" fill="none" stroke="{stroke}" stroke-width="{width:g}"/>'


def area(points: Iterable[Spot], fill: str) -> str:
    joined = "L".join(f"{x:g} {y:g}" for x, y in points)
    return f'<path d="M{joined}Z" fill="{fill}" fill-opacity=".15"/>'


def rectangle(corner: Spot, size: Spot, fill: str, opacity: float = 1) -> str:
    box = f'x="{corner[0]:g}" y="{corner[1]:g}" width="{size[0]:g}" height="{size[1]:g}"'
    see_through = "" if opacity == 1 else f' fill-opacity="{opacity:.2f}"'
    return f'<rect {box} fill="{fill}"{see_through}/>'


def mark(spot: Spot, arm: int, title: str = "", radius: float = 4, hollow: bool = False) -> str:
    """Draw the mark of an arm; `title` is shown to who points at it."""
    fill = f'fill="{colour(arm)}"'
    if hollow:
        fill = f'fill="#fff" stroke="{colour(arm)}" stroke-width="{1.5 / radius:.2g}"'
    place = f'transform="translate({spot[0]:g} {spot[1]:g}) scale({radius:g})"'
    note = f"<title>{escape(title)}</title>" if title else ""
    return f'<path {place} d="{SHAPES[arm % len(SHAPES)]}" {fill}>{note}</path>'


def x_axis(
    scale: Scale, ends: Spot, title: str, ticks: Sequence[tuple[float, str]] | None = None, grid: bool = True
) -> str:
    """Draw an axis at the foot; `ends`: the top and the foot of the lines of its grid."""
    top, foot = ends
    labels = ticks or [(tick, short(tick)) for tick in scale.ticks]
    parts = [text((scale(value), foot + LINE), label, "middle") for value, label in labels]
    if grid:
        parts = [line((scale(value), top), (scale(value), foot)) for value, _ in labels] + parts
    else:
        parts.append(line((scale.first, foot), (scale.last, foot), AXIS))
    return "".join(parts) + text(((scale.first + scale.last) / 2, foot + 2 * LINE), title, "middle", SOFT)


def y_axis(scale: Scale, left: float, right: float, title: str) -> str:
    """Draw an axis at the left, with the lines of its grid."""
    parts = []
    for tick in scale.ticks:
        y = scale(tick)
        parts += [line((left, y), (right, y)), text((left - 5, y + 4), short(tick), "end")]
    return "".join(parts) + text((2, min(scale.first, scale.last) - 9), title, "start", SOFT)


def legend(names: Sequence[str], left: float, top: float) -> str:
    """Explain the marks of arms, a line for each; nothing where there is one arm."""
    parts = []
    for arm, name in enumerate(names if len(names) > 1 else ()):
        y = top + arm * LINE
        parts += [mark((left + 4, y - 4), arm), text((left + 14, y), name)]
    return "".join(parts)


def text_width(names: Iterable[str]) -> float:
    return LETTER * max(map(len, names), default=0)


def short(value: float) -> str:
    """Shorten a figure for an axis: 1.2M, 54k, 0.125."""
    return units.short_rate(value) if abs(value) >= 1000 else f"{value:.3g}"


def svg(label: str, width: float, height: float, *parts: str) -> str:
    """Join parts to a picture; `label` is what a reader who cannot see it gets."""
    head = f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {width:g} {height:g}"'
    return f'{head} width="{width:g}" height="{height:g}" font-family="{FONT}" font-size="12">{"".join(parts)}</svg>'
