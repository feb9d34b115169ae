"""Vega-Lite to inline SVG, offline."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

_NAMESPACE = re.compile(r' xmlns(?::\w+)?="[^"]*"')
_ID = re.compile(r'(\bid="|url\(#|href="#)')

Draw: TypeAlias = Callable[[Mapping[str, Any]], str]


def svg(chart: Mapping[str, Any], name: str, label: str, draw: Draw) -> str:
    """`name` keeps the ids of one page apart, `label` is what a reader who cannot see it gets."""
    title = label.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    found = _ID.sub(rf"\g<1>{name}-", _NAMESPACE.sub("", draw(chart)))
    return found.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)


def drawn(chart: Mapping[str, Any]) -> str:
    import vl_convert

    if "data" not in chart or "layer" in chart:
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
