"""Figures of the candidates in their order, and how probable each is to be the first bad one, as Vega-Lite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepgrid.bisect.findings import Findings
from stepgrid.summarize.charts.svg import drawn, svg
from stepgrid.summarize.charts.vega import CONFIG, GREY, PALETTE, Chart

_WIDTH, _HEIGHT, _FOOT = 620, 200, 70


def picture(found: Findings) -> str:
    title = "Figures of each load, and the probability of each candidate"
    return svg(_chart(found), "bisect", title, drawn)


def _chart(found: Findings) -> Chart:
    names = [each.name for each in found.candidates]
    x: Chart = {"field": "candidate", "type": "ordinal", "sort": names, "scale": {"domain": names},
                "axis": {"title": None, "labelOverlap": "parity", "labelAngle": -60}}  # fmt: skip
    figure = "claim" if found.request.claim else found.request.metric
    above: Chart = {
        "width": _WIDTH, "height": _HEIGHT, "data": {"values": list(_figures(found))},
        "mark": {"type": "point", "size": 45, "color": PALETTE[0]},
        "encoding": {"x": {**x, "axis": {**x["axis"], "labels": False, "ticks": False}},
                     "y": {"field": "figure", "type": "quantitative", "title": figure, "scale": {"zero": False}}},
    }  # fmt: skip
    below: Chart = {
        "width": _WIDTH, "height": _FOOT, "data": {"values": list(_probabilities(found))},
        "mark": {"type": "bar", "color": GREY},
        "encoding": {"x": x, "y": {"field": "probability", "type": "quantitative", "title": "probability",
                                   "scale": {"domain": [0, 1]}, "axis": {"tickCount": 2, "format": "%"}}},
    }  # fmt: skip
    return {"config": CONFIG, "vconcat": [above, below], "spacing": 8}


def _figures(found: Findings) -> Iterator[dict[str, Any]]:
    for row in found.rows:
        yield from ({"candidate": row.candidate.name, "figure": figure} for figure in row.reading.figures)


def _probabilities(found: Findings) -> Iterator[dict[str, Any]]:
    shares = found.change.probability.tolist() if found.change is not None else []
    for candidate, share in zip(found.candidates[1:], shares, strict=False):
        yield {"candidate": candidate.name, "probability": share}
