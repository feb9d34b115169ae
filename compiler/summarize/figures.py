"""The table of absolute figures of a step: QPS, how steady it was, response times, what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from compiler.summarize import layout, medians, numbers
from compiler.summarize.points import QPS, Point
from compiler.summarize.report import Report, Section
from compiler.summarize.tables import Place
from compiler.summarize.timeseries import Steadiness, steadiness

# metric, heading, what it is
METRICS = (
    ("p50_us", "p50", "µs"),
    ("p99_us", "p99", "µs"),
    ("p99_9_us", "p99.9", "µs"),
    ("cpu_us_per_op", "CPU/op", "µs"),
    ("context_switches_per_op", "switches/op", ""),
    ("device_read_mb_per_s", "read", "MiB/s"),
    ("device_write_mb_per_s", "written", "MiB/s"),
    ("write_amplification", "w-amp", ""),
    ("stall_pct", "stalled", "%"),
)


@dataclass(frozen=True, slots=True)
class Figures:
    heads: tuple[tuple[str, str], ...]  # name, unit
    rows: tuple[tuple[tuple[str, ...], str | None, tuple[str, ...]], ...]  # labels, status if not done, figures


def figures(report: Report, section: Section) -> Figures:
    """A column for each figure that some point has; a point without it shows a dash."""
    columns = [column for column in _columns(report) if any(column[2](point) for point in section.points)]
    rows = tuple(
        (
            tuple(point.labels.get(name, "-") for name in section.names),
            status,
            tuple(show(point) or "-" for _, _, show in columns),
        )
        for point, status in _states(section)
    )
    return Figures(tuple((head, unit) for head, unit, _ in columns), rows)


def _states(section: Section) -> Iterator[tuple[Point, str | None]]:
    """Each point, and why it has no figures of its own."""
    first: dict[tuple[Place, ...], str] = {}
    for point in section.points:
        name = layout.words(layout.key(point, section.names), section.names)
        known = first.setdefault(point.places, name)
        status = None if point.values() else point.status
        yield point, status if status or known == name else f"same as {known}"


Column = tuple[str, str, Callable[[Point], str | None]]


def _columns(report: Report) -> list[Column]:
    fixed: list[Column] = [
        ("QPS", "median", lambda point: _of_loads(point, median)),
        ("lowest-highest", "of the loads", _range),
        ("95 %", "of the median", _interval),
        ("variation", "of seconds", lambda point: _steady(report, point, lambda each: each.variation)),
        ("slow", "seconds", lambda point: _steady(report, point, lambda each: each.slow)),
    ]
    return [*fixed, *(_metric(*metric) for metric in METRICS)]


def _metric(name: str, head: str, unit: str) -> Column:
    return head, unit, lambda point: _of_loads(point, median, name)


def _of_loads(point: Point, of: Callable[[Sequence[float]], float], metric: str = QPS) -> str | None:
    loads = [fmean(runs) for runs in point.values(metric).values()]
    return numbers.rate(of(loads)) if loads else None


def _range(point: Point) -> str | None:
    found = point.spread()
    return f"{numbers.rate(found[1])}-{numbers.rate(found[2])}" if found else None


def _interval(point: Point) -> str | None:
    found = medians.interval([fmean(runs) for runs in point.values().values()])
    return f"{numbers.rate(found.low)}-{numbers.rate(found.high)}" if found else None


def _steady(report: Report, point: Point, of: Callable[[Steadiness], float]) -> str | None:
    found = [steadiness([rate for _, rate in report.series.get(place, ())]) for place in point.places]
    known = [of(each) for each in found if each]
    return f"{median(known):.0%}" if known else None
