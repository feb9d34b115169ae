"""Recall against QPS of a step's searches, with the Pareto line of each build: more of one costs some of the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from stepgrid.summarize.charts import step_charts, vega
from stepgrid.summarize.charts.step_charts import Picture
from stepgrid.summarize.charts.svg import Draw, svg
from stepgrid.summarize.report import Report, Section

RECALL, QPS = "recall", "qps"
FEWEST = 2  # searches of a build that are worth a line
MOST = 3000  # points; of more, the Pareto lines alone
WIDTH, HEIGHT = 420, 260
MARGIN = 1.25


class Search(NamedTuple):
    build: str
    recall: float
    qps: float


def picture(report: Report, section: Section, draw: Draw) -> Picture | None:
    """None where the step has no recall, or one search of each build."""
    found = sorted(_searches(section))
    if max(Counter(each.build for each in found).values(), default=0) < FEWEST:
        return None
    best = [each for _, own in groupby(found, lambda each: each.build) for each in pareto(list(own))]
    builds = list(dict.fromkeys(each.build for each in found))
    title = f"{section.step}: recall and QPS"
    chart = vega_chart(found if len(found) <= MOST else best, best, builds)
    return Picture(title, svg(chart, step_charts.element_id(title), title, draw))


def pareto(searches: Sequence[Search]) -> list[Search]:
    """Those that no other one beats in both, by recall."""
    best: list[Search] = []
    for each in sorted(searches, key=lambda search: (-search.recall, -search.qps)):
        if not best or each.qps > best[-1].qps:
            best.append(each)
    return best[::-1]


def _searches(section: Section) -> Iterator[Search]:
    """Medians of the loads."""
    for point in {point.places: point for point in section.points}.values():
        recall, qps = point.spread(RECALL), point.spread(QPS)
        if recall and qps and qps[0] > 0:
            yield Search(point.build, recall[0], qps[0])


def _limits(searches: Sequence[Search]) -> list[float]:
    """A mark at the edge would stand in the labels."""
    rates = [each.qps for each in searches]
    return [min(rates) / MARGIN, max(rates) * MARGIN]


def vega_chart(searches: Sequence[Search], best: Sequence[Search], builds: Sequence[str]) -> dict[str, Any]:
    low, high = min(each.recall for each in searches), max(1.0, *(each.recall for each in searches))
    scale = {"type": "log", "domain": _limits(searches), "nice": False}
    encoding = {
        "x": {"field": RECALL, "type": "quantitative", "title": "recall",
              "scale": {"domain": [low, high], "nice": True}, "axis": {"format": "~g", "tickCount": 6}},
        "y": {"field": QPS, "type": "quantitative", "title": "QPS", "scale": scale,
              "axis": {"format": "~s", "tickCount": 5}},
        "color": {**vega.colours("build", builds), "legend": {"title": None}},
    }  # fmt: skip
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "config": vega.CONFIG,
        "data": {"values": [each._asdict() for each in searches]},
        "layer": [
            {"mark": {"type": "point", "size": 18, "opacity": 1, "strokeWidth": 1.2}, "encoding": encoding},
            {"data": {"values": [each._asdict() for each in best]},
             "mark": {"type": "line", "strokeWidth": 1.8, "point": {"size": 28}}, "encoding": encoding},
        ],
    }  # fmt: skip
