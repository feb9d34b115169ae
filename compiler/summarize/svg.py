"""Vega-Lite to inline SVG, offline."""

from __future__ import annotations

import re

from compiler.summarize.charts import Chart

_NAMESPACE = re.compile(r' xmlns(?::\w+)?="[^"]*"')
_ID = re.compile(r'(\bid="|url\(#|href="#)')


def svg(chart: Chart, name: str, label: str) -> str:
    """`name` keeps the ids of one page apart, `label` is what a reader who cannot see it gets."""
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(chart, allowed_base_urls=[])
    drawn = _ID.sub(rf"\g<1>{name}-", _NAMESPACE.sub("", drawn))
    title = label.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return drawn.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)
