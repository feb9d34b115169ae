"""The curve of a search: what was tried, whether it held, and the figure that it looks at first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from stepgrid.model.axis_search import SIZED
from stepgrid.summarize.charts import step_charts, vega
from stepgrid.summarize.charts.step_charts import Picture
from stepgrid.summarize.charts.svg import Draw, svg
from stepgrid.summarize.data.searches import HOLDS, Searched, SearchedAxis, mean
from stepgrid.summarize.tables.search_tables import title

WIDTH, HEIGHT = 420, 240
_MIB = 2**20


def pictures(found: Sequence[Searched], draw: Draw) -> Iterator[Picture]:
    """None of a search whose objective names no figure, or that has nothing yet."""
    for axis in dict.fromkeys(each.axis for each in found):
        own = [each for each in found if each.axis is axis]
        rows = list(_rows(axis, own)) if axis.figures else []
        if rows:
            name = title(axis)
            yield Picture(name, svg(_chart(axis, rows), step_charts.element_id(name), name, draw))


def _rows(axis: SearchedAxis, found: Sequence[Searched]) -> Iterator[dict[str, Any]]:
    for each in found:
        arm = ", ".join(each.labels.values())
        for value, runs in each.curve():
            figure = mean(runs, axis.figures[0])
            if figure is not None:
                held = all(run.metrics.get(HOLDS) == 1.0 for run in runs)
                yield {
                    "arm": arm,
                    "value": value / _unit(axis),
                    "figure": figure,
                    "holds": "holds" if held else "fails",
                }


def _unit(axis: SearchedAxis) -> int:
    return _MIB if axis.param.endswith(SIZED) else 1


def _chart(axis: SearchedAxis, rows: Sequence[dict[str, Any]]) -> vega.Chart:
    arms = list(dict.fromkeys(row["arm"] for row in rows))
    title = f"{axis.variable}, MiB" if _unit(axis) > 1 else axis.variable
    x: vega.Chart = {"field": "value", "type": "quantitative", "title": title,
                     "scale": {"type": "log", "nice": False, "base": 2},
                     "axis": {"format": "~g", "tickCount": 8}}  # fmt: skip
    y: vega.Chart = {"field": "figure", "type": "quantitative", "title": axis.figures[0], "axis": {"format": "~s"}}
    colour = {**vega.colours("arm", arms), "legend": {"title": None} if len(arms) > 1 else None}
    shape = {"field": "holds", "type": "nominal", "legend": {"title": None},
             "scale": {"domain": ["holds", "fails"], "range": ["circle", "cross"]}}  # fmt: skip
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "config": vega.CONFIG,
        "data": {"values": list(rows)},
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 1.2}, "encoding": {"x": x, "y": y, "color": colour}},
            {"mark": {"type": "point", "size": 60}, "encoding": {"x": x, "y": y, "color": colour, "shape": shape}},
        ],
    }
