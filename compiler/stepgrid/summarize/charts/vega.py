"""Every chart, as a Vega-Lite dict: small enough to stand side by side on paper and one below the other on a phone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

Chart: TypeAlias = dict[str, Any]

# Okabe and Ito: told apart by colour-blind readers, dark enough for white paper
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7a5c00", "#56B4E9", "#000000", "#E69F00")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
EDGE = 0.04  # share of the width that a mark has to itself: at its edge it would stand in the labels
HEIGHT = 600  # about as much as a screen shows at once
NUMBERS, FARTHEST = ("ratio", "low", "high"), 1e50  # of a row of ratios; what is farther from 1 is drawn there
GREY, BAND, STALL = "#555555", "#ececec", "#c00000"
WIDTH, FOOT, TICK = 210, 90, 9  # of a chart over time, and the height of a mark at its foot
FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"

CONFIG: Chart = {
    "font": FONT,
    "background": None,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "labelColor": "#222",
        "titleColor": "#222", "gridColor": "#e4e4e4", "domainColor": "#999", "tickColor": "#999", "labelLimit": 240,
    },
    "legend": {"labelFontSize": 11, "titleFontSize": 11, "orient": "bottom", "labelLimit": 260, "columns": 2,
        "columnPadding": 24},  # other fonts are wider
}  # fmt: skip


def ratios(rows: Sequence[dict[str, Any]], lines: Sequence[str], arms: Sequence[str], effect: float) -> Chart:
    """Ratios with their intervals on a logarithmic scale; hollow where there is no verdict.

    A row: {line, arm, ratio, low, high, judged}; low and high may be missing.
    """
    rows = [{name: _drawable(value) if name in NUMBERS else value for name, value in row.items()} for row in rows]
    low, high = _limits(rows, effect)
    scale = {"type": "log", "domain": [low, high], "clamp": True, "nice": False}
    ticks = [tick for tick in _ticks(high / low) if low <= tick <= high]
    x = {"scale": scale, "axis": {"values": ticks, "format": "~g", "title": "ratio of QPS", "grid": True}}
    y: Chart = {
        "field": "line", "type": "nominal", "sort": list(lines), "scale": {"paddingOuter": 0.2},
        "axis": {"title": None, "ticks": False, "domain": False},
    }  # fmt: skip
    offset = {"field": "arm", "type": "nominal", "sort": list(arms)}
    step = min(20, max(6 if len(arms) > 1 else 13, HEIGHT // (len(lines) * len(arms))))
    mark: Chart = {
        "y": y, "yOffset": offset,
        "color": {**colours("arm", arms), "legend": {"title": None} if len(arms) > 1 else None},
        "shape": {"field": "arm", "type": "nominal", "sort": list(arms), "legend": None,
                  "scale": {"domain": list(arms), "range": _cycle(SHAPES, len(arms))}},
    }  # fmt: skip
    band = {"values": [{"low": 1 / (1 + effect), "high": 1 + effect}]}
    return {
        "width": 230,
        "padding": {"left": 6 + len(max(lines, key=len)), "right": 8, "top": 5, "bottom": 5},  # other fonts are wider
        "height": {"step": step, "for": "offset"} if len(arms) > 1 else {"step": step + 2},
        "config": CONFIG,
        "data": {"values": list(rows)},
        "layer": [
            {"data": band, "mark": {"type": "rect", "color": BAND},
             "encoding": {"x": {"field": "low", "type": "quantitative", **x}, "x2": {"field": "high"}}},
            {"data": {"values": [{"one": 1}]}, "mark": {"type": "rule", "color": GREY},
             "encoding": {"x": {"field": "one", "type": "quantitative", **x}}},
            {"transform": [{"filter": "isValid(datum.low)"}], "mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"x": {"field": "low", "type": "quantitative", **x}, "x2": {"field": "high"},
                          "y": y, "yOffset": offset, "color": mark["color"]}},
            {"mark": {"type": "point", "size": 55, "opacity": 1, "strokeWidth": 1.6},
             "encoding": {"x": {"field": "ratio", "type": "quantitative", **x}, **mark,
                          "fill": {"condition": {"test": "datum.judged", **colours("arm", arms), "legend": None},
                                   "value": "white"}}},
        ],
    }  # fmt: skip


def over_time(rows: Sequence[dict[str, Any]], loads: Sequence[str], seconds: float, top: float) -> Chart:
    """QPS by second, the loads over each other; one scale for all charts of a step. A row: {second, qps, load}."""
    return {
        "width": WIDTH,
        "height": FOOT,
        "config": CONFIG,
        "data": {"values": list(rows)},
        "mark": {"type": "line", "strokeWidth": 1.4, "point": {"size": 12} if seconds <= 30 else False},
        "encoding": {
            "x": {"field": "second", "type": "quantitative", "title": "seconds",
                  "scale": {"domain": [0, seconds], "nice": False},
                  "axis": {"values": _seconds(seconds), "format": "d", "grid": False, **_SHORT}},
            "y": {"field": "qps", "type": "quantitative", "title": None, "scale": {"domain": [0, top], "nice": True},
                  "axis": {"tickCount": 4, "format": "~s", **_SHORT}},
            "color": {**colours("load", loads), "legend": None},
        },
    }  # fmt: skip


def by_client(
    rows: Sequence[dict[str, Any]],
    stalls: Sequence[float],
    clients: Sequence[str],
    limits: tuple[float, float],
    target: float | None,
) -> Chart:
    """A line per client; a red tick at the foot is a second in which one stood still, dashed what each was asked for.

    `limits`: the ends of both scales, the same in all charts of a step. A row: {second, rate, client}.
    """
    seconds, top = limits
    x: Chart = {
        "field": "second", "type": "quantitative", "title": "seconds", "scale": {"domain": [0, seconds], "nice": False},
        "axis": {"values": _seconds(seconds), "format": "d", "grid": False, **_SHORT},
    }  # fmt: skip
    y: Chart = {"type": "quantitative", "title": None, "scale": {"domain": [0, top], "nice": True},
                "axis": {"tickCount": 4, "format": "~s", **_SHORT}}  # fmt: skip
    colour = {**colours("client", clients), "legend": None}
    lines: Chart = {
        "mark": {"type": "line", "strokeWidth": 1.2, "opacity": 0.8},
        "encoding": {"x": x, "y": {"field": "rate", **y}, "color": colour},
    }
    ticks: Chart = {
        "data": {"values": [{"second": second} for second in stalls]},
        "mark": {"type": "rule", "color": STALL, "strokeWidth": 1.5},
        "encoding": {"x": x, "y": {"value": FOOT}, "y2": {"value": FOOT - TICK}},
    }
    asked: Chart = {
        "data": {"values": [{"target": target}]},
        "mark": {"type": "rule", "color": GREY, "strokeDash": [4, 3]},
        "encoding": {"y": {"field": "target", **y}},
    }
    layers = [lines, ticks, *([asked] if target is not None else [])]
    return {"width": WIDTH, "height": FOOT, "config": CONFIG, "data": {"values": list(rows)}, "layer": layers}


_SHORT = {"labelLimit": 0, "titleLimit": 0, "labelOverlap": False}  # are never cut: not asking saves a tenth
_FINE = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3)
_MIDDLE = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10)
_COARSE = (0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000)
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800)


def _ticks(reach: float) -> Sequence[float]:
    return _FINE if reach < 3 else _MIDDLE if reach < 20 else _COARSE


def _seconds(end: float) -> list[int]:
    """Whole seconds, six of them or less."""
    step = next((step for step in _STEPS if end / step <= 6), 3600)
    return list(range(0, int(end) + 1, step))


def _drawable(ratio: float) -> float:
    """No longer than a logarithmic axis can be."""
    return min(max(ratio, 1 / FARTHEST), FARTHEST)


def _limits(rows: Sequence[dict[str, Any]], effect: float) -> tuple[float, float]:
    """All ratios, and of the intervals what leaves the ratios apart: a single wide one would hide the others."""
    ratios = [row["ratio"] for row in rows] or [1.0]
    reach = max(1.15, 1 + 3 * effect, *(max(ratio, 1 / ratio) for ratio in ratios))
    ends = [end for row in rows for end in (row.get("low"), row.get("high")) if end]
    wide = max((max(end, 1 / end) for end in ends), default=reach)
    low = min([1.0, *ratios, *ends])
    high = max([1.0, *ratios, *ends])
    edge = max(1.03, (high / low) ** EDGE)
    limit = min(max(wide, reach), max(reach**3, 2.0)) * edge
    return max(1 / limit, min(low / edge, 1 / (1 + 3 * effect))), min(limit, max(high * edge, 1 + 3 * effect))


def colours(field: str, domain: Sequence[str]) -> Chart:
    scale = {"domain": list(domain), "range": _cycle(PALETTE, len(domain))}
    return {"field": field, "type": "nominal", "sort": list(domain), "scale": scale}


def _cycle(values: Sequence[str], count: int) -> list[str]:
    return [values[index % len(values)] for index in range(count)]
