"""The table of absolute figures of a step: QPS, how steady it was, response times, what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from statistics import fmean, median

from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.status import Status
from stepgrid.model.table import NOTHING, Cell, Column, Table, status_cell
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.series import Place
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics import robust_statistics
from stepgrid.summarize.statistics.time_series import Steadiness

FILES, SIZE = "files", "B"
MOST_OWN = 12

# metric, heading, what it is
METRICS = (
    ("inserts_per_s", "inserted", "rows/s"),
    ("insert_stalled_pct", "inserts stalled", "%"),
    ("query_stalled_pct", "queries stalled", "%"),
    ("p50_us", "p50", "µs"),
    ("p99_us", "p99", "µs"),
    ("p99_9_us", "p99.9", "µs"),
    ("read_p99_us", "read p99", "µs"),  # where a step mixes kinds of operation, there is none of all together
    ("write_p99_us", "write p99", "µs"),
    ("seek_p99_us", "seek p99", "µs"),
    ("cpu_us_per_op", "CPU/op", "µs"),
    ("client_cpu_us_per_op", "client CPU", "µs"),  # of that, where there is a server
    ("server_cpu_us_per_op", "server CPU", "µs"),
    ("context_switches_per_op", "switches/op", ""),
    ("device_read_mb_per_s", "read", "MiB/s"),
    ("device_write_mb_per_s", "written", "MiB/s"),
    ("write_amplification", "w-amp", ""),
    ("stall_pct", "stalled", "%"),
    ("drain_seconds", "drain", "s"),
    ("drain_l0_files", "L0 debt", FILES),
)
# what the step left to clean up
GARBAGE = (
    ("tombstones", "tombstones", "entries"),
    ("dead_rows", "dead rows", "rows"),
    ("history_list_length", "history list", "transactions"),
    ("bloat_bytes", "bloat", SIZE),
)


def title(report: Report) -> str:
    return "absolute figures of one load" if report.setup.loads[1] == 1 else "absolute figures, medians of the loads"


def meanings(report: Report) -> list[tuple[str, str]]:
    """What the columns are, as the list of metrics says it: those that some table has."""
    from stepgrid.plugins.metrics import METRICS as KNOWN

    points = [point for section in report.comparisons.sections for point in section.points]
    there = {name for point in points for run in point.runs for name in run.metrics}
    return [(head, KNOWN[name].definition) for name, head, _ in (*METRICS, *GARBAGE) if name in there and name in KNOWN]


@lru_cache(1024)  # the text and the page have the same
def table(report: Report, section: Section) -> Table:
    """A column for each figure that some point has; a point without it shows a dash."""
    every = [(column, [show(point) for point in section.points]) for column, show in _columns(report, section)]
    known = [(column, shown) for column, shown in every if any(shown)]
    rows = tuple(
        (
            *(Cell(point.labels.get(name, "-")) for name in section.names),
            *(status_cell(status) if status else shown[place] or Cell(NOTHING) for _, shown in known),
        )
        for place, (point, status) in enumerate(_states(section))
    )
    labels = (Column(name, label=True) for name in section.names)
    return Table(
        "absolute figures", (*labels, *(column for column, _ in known)), rows, section.step, notes=tuple(_took(section))
    )


def _took(section: Section) -> Iterator[str]:
    """How long a run was: of one that is short the figures say little."""
    found = [run.metrics["seconds"] for point in section.points for run in point.runs if run.metrics.get("seconds")]
    if found:
        ends = dict.fromkeys(map(units.rate, (min(found), max(found))))
        yield f"a run took {' to '.join(ends)} s"


def own(section: Section) -> list[str]:
    """The metrics that its steps give their names: often all that a command says."""
    from stepgrid.plugins.metrics import METRICS

    found = dict.fromkeys(name for point in section.points for run in point.runs for name in run.metrics)
    return [name for name in found if name not in METRICS][:MOST_OWN]


def _states(section: Section) -> Iterator[tuple[Point, str | None]]:
    """Each point, and why it has no figures of its own."""
    first: dict[tuple[Place, ...], str] = {}
    names = section.names
    for point in section.points:
        name = comparison_axes.words(comparison_axes.key(point, names), names)
        known = first.setdefault(point.places, name)
        status = None if point.status == Status.DONE else point.status
        yield point, status if status or known == name else f"same as {known}"


Shown = tuple[Column, Callable[[Point], Cell | None]]


def _columns(report: Report, section: Section) -> list[Shown]:
    return [
        (_head("QPS", "median"), _median),
        (_head("lowest-highest", "of the loads"), _range),
        (_head("95 %", "of the median"), _interval),
        (_head("variation", "of seconds"), lambda point: _steady(report, point, lambda each: each.variation)),
        (_head("slow", "seconds"), lambda point: _steady(report, point, lambda each: each.slow)),
        *(_metric(name, name, report.setup.units.get(name, "")) for name in own(section)),
        *(_metric(*metric) for metric in METRICS),
        *(_whole(*metric) for metric in GARBAGE),
    ]


def _head(name: str, unit: str) -> Column:
    return Column(name, unit=unit, is_text=True)


def _metric(name: str, head: str, unit: str) -> Shown:
    shown = "{:g}".format if unit == FILES else units.rate
    return _head(head, unit), lambda point: _median(point, name, shown)


def _whole(name: str, head: str, unit: str) -> Shown:
    """Counts, and sizes, which have their unit beside them."""
    shown = partial(units.figure, unit=unit)
    return _head(head, "" if unit == SIZE else unit), lambda point: _median(point, name, shown)


def _median(point: Point, metric: str = QPS, shown: Callable[[float], str] = units.rate) -> Cell | None:
    found = point.spread(metric)
    return Cell(shown(found[0]), value=found[0]) if found else None


def _range(point: Point) -> Cell | None:
    found = point.spread() if point.loads[0] > 1 else None
    return Cell(f"{units.rate(found[1])}-{units.rate(found[2])}") if found else None


def _interval(point: Point) -> Cell | None:
    found = robust_statistics.median_interval([fmean(runs) for runs in point.values().values()])
    return Cell(units.span(found.low, found.high)) if found else None


def _steady(report: Report, point: Point, of: Callable[[Steadiness], float]) -> Cell | None:
    known = [of(each) for place in point.places if (each := report.data.series.steadiness.get(place))]
    return Cell(units.percent(median(known))) if known else None
