"""Table of absolute figures of a step: QPS and its steadiness, latency, and what the step cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from stepgrid.model import units
from stepgrid.model.metrics import INITIAL, SLOW, STEADY_QPS, VARIATION
from stepgrid.model.status import Status
from stepgrid.model.table import NOTHING, Cell, Column, Table, status_cell
from stepgrid.summarize.comparisons.comparison import ComparedMetric, figure_text
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics import confidence_intervals

FILES, SIZE = "files", "B"
WIDEST = 10.0  # an interval of a mean whose ends are further apart says nothing
MOST_OWN = 12  # metrics that a step declares itself

# metric, heading, unit
METRICS = (
    ("inserts_per_s", "inserted", "rows/s"),
    ("insert_stalled_pct", "inserts stalled", "%"),
    ("query_stalled_pct", "queries stalled", "%"),
    ("p50_us", "p50", "µs"),
    ("p99_us", "p99", "µs"),
    ("p99_9_us", "p99.9", "µs"),
    ("p99_99_us", "p99.99", "µs"),
    ("over_limit_pct", "over limit", "%"),
    ("durable_lag_p50_us", "durable p50", "µs"),  # later than acknowledged
    ("durable_lag_p99_us", "durable p99", "µs"),
    ("durable_lag_max_us", "durable max", "µs"),
    ("read_p99_us", "read p99", "µs"),  # where a step mixes kinds of operation, there is none of all together
    ("write_p99_us", "write p99", "µs"),
    ("seek_p99_us", "seek p99", "µs"),
    ("cpu_us_per_op", "CPU/op", "µs"),
    ("client_cpu_us_per_op", "client CPU", "µs"),  # a part of that, where there is a server
    ("server_cpu_us_per_op", "server CPU", "µs"),
    ("context_switches_per_op", "switches/op", ""),
    ("device_read_mb_per_s", "read", "MiB/s"),
    ("device_write_mb_per_s", "written", "MiB/s"),
    ("write_amplification", "w-amp", ""),
    ("stall_pct", "stalled", "%"),
    ("drain_seconds", "drain", "s"),
    ("drain_l0_files", "L0 debt", FILES),
)
STEADY = ((INITIAL, "initial QPS"), (STEADY_QPS, "steady QPS"))  # of steps that are to become steady
# garbage that the step left
GARBAGE = (
    ("tombstones", "tombstones", "entries"),
    ("dead_rows", "dead rows", "rows"),
    ("history_list_length", "history list", "transactions"),
    ("bloat_bytes", "bloat", SIZE),
)
Show = Callable[[Point], Cell | None]


def title(report: Report) -> str:
    return f"absolute figures{' of one load' if report.setup.loads[1] == 1 else ', means of the loads'}"


def meanings(report: Report) -> list[tuple[str, str]]:
    """Return heading and definition of the columns that some table has."""
    from stepgrid.plugins.metrics import METRICS as DEFINED

    names = {name for section in report.comparisons.sections for run in section.runs for name in run.metrics}
    columns = [(name, head) for name, head, _ in (*METRICS, *GARBAGE) if name in names and name in DEFINED]
    return [(head, DEFINED[name].definition) for name, head in columns]


@lru_cache(1024)  # the text and the page have the same
def table(report: Report, section: StepPoints) -> Table:
    """Make a column for each figure that differs from 0 at some point; a point without it shows a dash."""
    states = list(_states(section))
    columns = [(column, [show(point) for point, _ in states]) for column, show in _columns(report, section)]
    columns = [
        (column, cells)
        for column, cells in columns
        if any(cell and (cell.value != 0 or column.name == "QPS") for cell in cells)
    ]
    rows = tuple(
        (
            *(Cell(point.labels.get(name, NOTHING)) for name in section.names),
            *(status_cell(status) if status else cells[index] or Cell(NOTHING) for _, cells in columns),
        )
        for index, (point, status) in enumerate(states)
    )
    heads = (*(Column(name, label=True) for name in section.names), *(column for column, _ in columns))
    return Table("absolute figures", heads, rows, section.step, notes=tuple(_durations(section)))


def sections(report: Report) -> list[StepPoints]:
    """List the steps that have such figures: what only ran beside another one may have none."""
    listed = report.comparisons.sections
    return [
        section for section in listed if len(table(report, section).columns) > len(section.names) or len(listed) == 1
    ]


def own_metrics(section: StepPoints) -> list[str]:
    """List the metrics that its steps declare: often all that a command prints."""
    from stepgrid.plugins.metrics import METRICS as DEFINED

    names = dict.fromkeys(name for run in section.runs for name in run.metrics)
    return [name for name in names if name not in DEFINED][:MOST_OWN]


def _states(section: StepPoints) -> Iterator[tuple[Point, str | None]]:
    """Yield each point, and why it has no figures of its own."""
    first_names: dict[tuple[tuple[str, int], ...], str] = {}
    for point in section.points:
        name = section.point_name(point)
        first_name = first_names.setdefault(point.places, name)
        status = None if point.status == Status.DONE else point.status
        yield point, status if status or first_name == name else f"same as {first_name}"


def _columns(report: Report, section: StepPoints) -> list[tuple[Column, Show]]:
    names = set[str]().union(*(run.metrics for run in section.runs))
    return [
        (_head("QPS", "" if report.setup.loads[1] == 1 else "mean"), partial(_with_margin, ComparedMetric())),
        (_head("lowest-highest", "of the loads"), _range),
        (_head("95 %", "of the mean"), _interval),
        (_head("variation", "of seconds"), lambda point: _percent(point, VARIATION)),
        (_head("slow", "seconds"), lambda point: _percent(point, SLOW)),
        *(_metric(name, head, "") for name, head in STEADY if INITIAL in names),
        *(_metric(name, name, report.data.units.get(name, "")) for name in own_metrics(section)),
        *(_metric(*metric) for metric in METRICS if metric[0] in names),
        *(_metric(*metric) for metric in GARBAGE if metric[0] in names),
    ]


def _head(name: str, unit: str) -> Column:
    return Column(name, unit=unit, is_text=True)


def _metric(name: str, head: str, unit: str) -> tuple[Column, Show]:
    """Make a column of means; sizes have their unit beside each figure."""
    if "_p5" in f"_{name}" or "_p9" in f"_{name}":  # a percentile
        return _head(head, unit), partial(_with_margin, ComparedMetric(name, unit))
    form = partial(units.short_figure, unit=unit)
    return _head(head, "" if unit == SIZE else unit), lambda point: _mean(point, name, form)


def _with_margin(metric: ComparedMetric, point: Point) -> Cell | None:
    spread = point.spread(metric.name)
    return Cell(figure_text(point, metric), value=spread[0]) if spread else None


def _mean(point: Point, metric: str, show: Callable[[float], str]) -> Cell | None:
    spread = point.spread(metric)
    return Cell(show(spread[0]), value=spread[0]) if spread else None


def _range(point: Point) -> Cell | None:
    spread = point.spread() if point.loads[0] > 1 else None
    return Cell("-".join(map(units.short_figure, spread[1:])), interval=spread[1:]) if spread else None


def _interval(point: Point) -> Cell | None:
    interval = confidence_intervals.mean_interval(point.means())
    if interval is None or interval[1] > WIDEST * interval[0]:
        return None
    return Cell(units.span(*interval), interval=interval)


def _percent(point: Point, metric: str) -> Cell | None:
    spread = point.spread(metric)
    return Cell(units.percent(spread[0] / 100), value=spread[0] / 100) if spread else None


def _durations(section: StepPoints) -> Iterator[str]:
    """Say how long a run was: the figures of a short one mean little."""
    seconds = [time for run in section.runs if (time := run.metrics.get("seconds"))]
    if seconds:
        yield f"a run took {' to '.join(dict.fromkeys(map(units.rate, (min(seconds), max(seconds)))))} s"
