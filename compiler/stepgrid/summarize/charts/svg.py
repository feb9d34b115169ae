"""Vega-Lite to inline SVG, offline; by a process of its own where one was begun."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from multiprocessing import get_context
from typing import Any

from stepgrid.host.processes.parent_death import die_with_parent
from stepgrid.summarize.cache import report_cache
from stepgrid.summarize.cache.report_cache import Drawing

_NAMESPACE = re.compile(r' xmlns(?::\w+)?="[^"]*"')
_ID = re.compile(r'(\bid="|url\(#|href="#)')


_FIRST: Mapping[str, Any] = {"mark": "point", "data": {"values": []}}

_drawing: Executor | None = None


def begin() -> None:
    """What draws takes a third of a second to start: it does so while this process still reads."""
    global _drawing
    _drawing = ProcessPoolExecutor(1, get_context("fork"), initializer=die_with_parent())
    _drawing.submit(_drawn, _FIRST)


def svg(chart: Mapping[str, Any], name: str, label: str) -> Drawing:
    """Begun. `name` keeps the ids of one page apart, `label` is what a reader who cannot see it gets."""
    drawing = report_cache.drawn(chart, _elsewhere)
    title = label.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")

    def finished() -> str:
        drawn = _ID.sub(rf"\g<1>{name}-", _NAMESPACE.sub("", drawing()))
        return drawn.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)

    return finished


def _elsewhere(chart: Mapping[str, Any]) -> Drawing:
    """That process draws while this one goes on."""
    if _drawing is None:
        return lambda: _drawn(chart)
    with suppress(BrokenExecutor):  # it was killed, when memory ran out for instance
        return partial(_received, _drawing.submit(_drawn, chart), chart)
    return lambda: _drawn(chart)


def _received(drawing: Future[str], chart: Mapping[str, Any]) -> str:
    try:
        return drawing.result()
    except BrokenExecutor:
        return _drawn(chart)


def _drawn(chart: Mapping[str, Any]) -> str:
    import vl_convert

    if "layer" in chart:
        return vl_convert.vegalite_to_svg(dict(chart), allowed_base_urls=[])
    compiled = _compiled(json.dumps({**chart, "data": {"values": []}}))
    source, *rest = compiled["data"]
    filled = {**compiled, "data": [{**source, **chart["data"]}, *rest]}
    return vl_convert.vega_to_svg(filled, allowed_base_urls=[])


@lru_cache(8)
def _compiled(chart: str) -> Mapping[str, Any]:
    """Those of a step differ in their rows alone: compiling takes a quarter of a chart's time."""
    import vl_convert

    return vl_convert.vegalite_to_vega(json.loads(chart))
