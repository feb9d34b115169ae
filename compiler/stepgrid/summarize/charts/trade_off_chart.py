"""QPS against what it costs, a mark for each point; the line joins those that no other point beats in both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stepgrid.model import number_format
from stepgrid.summarize.charts import drawing
from stepgrid.summarize.charts.step_charts import Picture
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.report import Section

FEWEST, MOST = 4, 400  # points
APART = 1.05  # costs that all points have alike are none to weigh
SERVER = "server_rss_bytes"  # where there is one, the step's own process is only its client
COSTS = (
    ("write_amplification", "write amplification"),
    (SERVER, "memory of the server"),
    ("process_max_rss_bytes", "memory"),
    ("database_bytes", "size of the database"),
)
WIDTH, HEIGHT, LEFT, TOP = 300, 200, 52, 24


class Mark(NamedTuple):
    cost: float
    qps: float
    name: str


def pictures(section: Section) -> list[Picture]:
    served = any(SERVER in run.metrics for point in section.points for run in point.runs)
    costs = [(metric, named) for metric, named in COSTS if not (served and metric == "process_max_rss_bytes")]
    found = [(named, list(_marks(section, metric)), metric) for metric, named in costs]
    weighed = [(named, marks, metric) for named, marks, metric in found if _is_weighed(marks)]
    return [_picture(section, named, marks, metric.endswith("_bytes")) for named, marks, metric in weighed]


def front(marks: Sequence[Mark]) -> list[Mark]:
    """From the cheapest to the fastest."""
    best: list[Mark] = []
    for each in sorted(marks, key=lambda mark: (mark.cost, -mark.qps)):
        if not best or each.qps > best[-1].qps:
            best.append(each)
    return best


def _is_weighed(marks: Sequence[Mark]) -> bool:
    costs = [each.cost for each in marks]
    return FEWEST <= len(marks) <= MOST and max(costs) > APART * min(costs)


def _marks(section: Section, metric: str) -> Iterator[Mark]:
    """Medians of the loads."""
    for point in {point.places: point for point in section.points}.values():
        cost, qps = point.spread(metric), point.spread()
        if cost and qps:
            name = comparison_axes.words(comparison_axes.key(point, section.names), section.names)
            yield Mark(cost[0], qps[0], name)


def _picture(section: Section, named: str, marks: Sequence[Mark], is_size: bool) -> Picture:
    title, best = f"{section.step}: QPS and {named}", front(marks)
    foot, right = TOP + HEIGHT, LEFT + WIDTH
    across = drawing.scale([each.cost for each in marks], LEFT + 8, right - 8)
    up = drawing.scale([each.qps for each in marks], foot, TOP, from_zero=True)
    shown = number_format.size if is_size else drawing.short
    ticks = [(tick, shown(tick)) for tick in (across.size_ticks if is_size else across.ticks)]
    parts = [
        drawing.across(across, TOP, foot, named, ticks),
        drawing.up(up, LEFT, right, "QPS"),
    ]
    parts.append(drawing.path([(across(each.cost), up(each.qps)) for each in best], drawing.colour_of(0)))
    for each in marks:
        said = f"{each.name}: {number_format.rate(each.qps)} QPS, {shown(each.cost)}"
        parts.append(
            drawing.dot(across(each.cost), up(each.qps), drawing.colour_of(0 if each in best else 1), said, 3.5)
        )
    return Picture(
        f"{title}; on the line: {_named(best)}", drawing.svg(title, right + 8, foot + 2.5 * drawing.LINE, *parts)
    )


def _named(best: Sequence[Mark]) -> str:
    """The cheapest and the fastest are enough of many."""
    few = [each.name for each in best] if len(best) <= 3 else [best[0].name, "…", best[-1].name]
    return "; ".join(few)
