"""Tables with a row for each arm: averages of vmstat and iostat, cost of an operation, response times, recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from stepgrid.model import units
from stepgrid.model.figures import LATENCY_CLASSES
from stepgrid.model.metrics import QPS
from stepgrid.model.table import Cell, Table, columns, status_cell
from stepgrid.plugins.layout import ARMS, BASE, RANGE, STEP, Block, Layout, LayoutCell, cell, fixed
from stepgrid_databases.layouts.figures import base_row


class Shown(NamedTuple):
    """A column: the sum of metrics, times a factor, with so many decimals."""

    head: str
    digits: int
    metrics: tuple[str, ...]
    factor: float = 1.0

    def cell(self, spot: LayoutCell) -> Cell:
        has_all = spot.values.keys() >= {*self.metrics}
        return fixed(
            spot, sum(spot.values[name] for name in self.metrics) * self.factor if has_all else None, self.digits
        )


Columns = Sequence[Shown]


def _columns(text: str) -> Columns:
    """Read a column a line: its head, its decimals, and the metrics that it is the sum of."""
    lines = (line.split() for line in text.strip().splitlines())
    return [Shown(head, int(digits), tuple(metrics)) for head, digits, *metrics in lines]


_VMSTAT = _columns("""
    cs 0 context_switches_per_s
    us 1 host_cpu_user_pct
    sy 1 host_cpu_system_pct
    us+sy 1 host_cpu_user_pct host_cpu_system_pct
    id 1 host_cpu_idle_pct
    wa 1 host_cpu_iowait_pct
""")
_IOSTAT = _columns("""
    rps 0 device_reads_per_s
    rMBps 1 device_read_mb_per_s
    rawait 2 device_read_await_ms
    rareqsz 1 device_read_request_kb
    wps 0 device_writes_per_s
    wMBps 1 device_write_mb_per_s
    wawait 2 device_write_await_ms
    wareqsz 1 device_write_request_kb
""")
_PERCENTILES = _columns("""
    p50 1 p50_us
    p99 0 p99_us
    p99.9 0 p99_9_us
    p99.99 0 p99_99_us
    pmax 0 max_us
""")


def _arm_layout(title: str, figures: Columns, label: str, *legend: str) -> Layout:
    metrics = tuple(dict.fromkeys(name for column in figures for name in column.metrics))
    return Layout(title, lambda block: [_arm_table(block, figures, label, legend)], metrics=metrics)


def _arm_table(block: Block, figures: Columns, label: str, legend: Sequence[str], *parts: str) -> Table:
    """Make a row for each arm, its name last."""
    rows = ((*(column.cell(spot) for column in figures), Cell(name)) for name, spot in block.subjects())
    return block.table(
        columns([column.head for column in figures], [label]), rows, *parts, notes=(*block.notes, *legend)
    )


# Cost of an operation, by vmstat and iostat: absolute, and relative to the first result.

_COST_HEADS = ("cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "o/s")
_COST_DIGITS = {"cpu/o": 6, "cs/o": 3, "o/s": 0}
_COST_LEGEND = (
    "cpu/o: CPU of the host in % / operations/s; cs/o, r/o: context switches and reads per operation",
    "rKB/o, wKB/o: KiB read and written per operation; o/s: operations/s",
)
_COST_METRICS = (
    "qps", "host_cpu_user_pct", "host_cpu_system_pct", "host_cpu_busy_pct", "context_switches_per_s",
    "device_reads_per_s", "device_read_mb_per_s", "device_write_mb_per_s",
)  # fmt: skip


def cost_tables(block: Block) -> list[Table]:
    subjects = block.subjects()
    heads = columns(_COST_HEADS, ["dbms"])
    lines = [(name, spot, _cost_cells(spot)) for name, spot in subjects]
    absolute = ((*cells, Cell(name)) for name, _, cells in lines)
    tables = [block.table(heads, absolute, before=["--- absolute"], notes=(*block.notes, *_COST_LEGEND))]
    base = base_row((name for name, spot in subjects if not spot.status and spot.values), block.base)
    if base is not None and len(subjects) > 1:
        base_cells = {name: cells for name, _, cells in lines}[base]
        rows = (
            (*map(partial(_shown_ratio, spot), _COST_HEADS, cells, base_cells), Cell(name))
            for name, spot, cells in lines
            if name != base
        )
        tables.append(block.table(heads, rows, before=[f"--- relative to {base}"]))
    return tables


def _cost_cells(spot: LayoutCell) -> list[Cell]:
    costs = operation_costs(spot.values)
    cells = []
    for head in _COST_HEADS:
        value = costs.get(head)
        if head in _COST_DIGITS:
            cells.append(fixed(spot, value, _COST_DIGITS[head]))
        else:  # %.6g of a figure that is cut to three decimals: 0.000 is 0
            cells.append(cell(spot, None if value is None else f"{float(f'{value:.3f}'):.6g}"))
    return cells


def _shown_ratio(spot: LayoutCell, head: str, figure: Cell, base: Cell) -> Cell:
    """Divide figures as they are shown: a thousandth of a read that is rounded away is none.

    The ratio of rates is that of other tables, where the report has it.
    """
    if figure.kind or base.kind:
        return cell(spot, None)
    if head == "o/s" and QPS in spot.ratios:
        return Cell(units.ratio(spot.ratios[QPS]))
    return Cell(units.ratio_to(float(figure.text), float(base.text)))


def operation_costs(values: Mapping[str, float]) -> dict[str, float]:
    """Compute costs by head. Published results may have user and system time together alone."""
    rate, busy = values.get("qps"), ("host_cpu_busy_pct",)
    sums = {
        "cpu/o": busy if busy[0] in values else ("host_cpu_user_pct", "host_cpu_system_pct"),
        "cs/o": ("context_switches_per_s",),
        "r/o": ("device_reads_per_s",),
        "rKB/o": ("device_read_mb_per_s",),
        "wKB/o": ("device_write_mb_per_s",),
    }
    if not rate:
        return {} if rate is None else {"o/s": rate}
    costs = {
        head: sum(values[name] for name in names) * (1024 if "KB" in head else 1) / rate
        for head, names in sums.items()
        if values.keys() >= {*names}
    }
    return {**costs, "o/s": rate}


# Response times by class: the share of operations in each, a table for each kind of operation.

_FEW = "nonzero"  # some, and fewer than three decimals show
_CLASS_LEGEND = (
    "per cent of the operations that took no longer than the class's limit, and longer than that of the one before; "
    "gt: longer than 16s; max: seconds",
    f"{_FEW}: some, below 0.0005 %; a bucket of the client's that lies across a limit counts above it",
)
# a step of the insert benchmark has those of one kind, by secondary index or by primary key
_QUERIES = ("range", "point")


def class_tables(block: Block) -> list[Table]:
    tables = []
    for operation in dict.fromkeys(name for spot in block.spots.values() for name in spot.times):
        rows, late = [], []
        for subject, spot in block.subjects():
            is_late = spot.values.get("backlog") or spot.values.get("target_met", 1) < 1
            late += [subject] if is_late and operation not in spot.times else []
            shares: Sequence[float | None] = spot.times.get(operation) or [None] * len(LATENCY_CLASSES)
            longest = fixed(spot, _longest(spot.values, operation), 3)
            rows.append((*(cell(spot, percent(share)) for share in shares), longest, Cell(subject)))
        notes = (
            *block.notes,
            *_CLASS_LEGEND,
            *([f"not all loads kept up with their rate: {', '.join(late)}"] if late else []),
        )
        tables.append(block.table(columns((*LATENCY_CLASSES, "max"), ["tag"]), rows, operation, notes=notes))
    return tables


def percent(share: float | None) -> str | None:
    text = units.fixed(share, 3)
    return _FEW if share and text == "0.000" else text


def _longest(values: Mapping[str, float], operation: str) -> float | None:
    kind = "query" if operation in _QUERIES else operation
    if (seconds := values.get(f"max_{kind}_seconds")) is not None:
        return seconds
    microseconds = values.get(f"{operation}_max_us" if operation else "max_us")
    return None if microseconds is None else microseconds / 1e6


# Response times of LinkBench's operations on nodes and on links, as published.

_LINKBENCH: Mapping[str, str] = {
    "nodes": "an:addnode un:updatenode dn:deletenode gn:getnode",
    "links": "al:addlink dl:deletelink ul:updatelink cl:countlink mg:getlink gll:getlinklist",
}
_LINKBENCH_TIMES = (("9", "p99_us", 2), ("x", "max_us", 1), ("m", "avg_us", 3))
_LINKBENCH_LEGEND = "milliseconds; 9: 99th percentile, x: longest, m: mean; ips: requests/s"
_LINKBENCH_COLUMNS: Mapping[str, Columns] = {
    part: [
        Shown(f"{short}{mark}", digits, (f"{name}_{time}",), 0.001)
        for short, name in (pair.split(":") for pair in text.split())
        for mark, time, digits in _LINKBENCH_TIMES
    ]
    for part, text in _LINKBENCH.items()
}


def linkbench_tables(block: Block) -> list[Table]:
    """Make a table for each part, but for a load, which has no operations."""
    spots, tables = [spot for spot in block.spots.values() if spot.values], []
    for part, times in _LINKBENCH_COLUMNS.items():
        longest = [name for column in times for name in column.metrics if name.endswith("_max_us")]
        if not spots or any(name in spot.values for spot in spots for name in longest):
            legend = f"{_LINKBENCH_LEGEND}; {_LINKBENCH[part].replace(' ', ', ').replace(':', ': ')}"
            tables.append(_arm_table(block, [Shown("ips", 0, (QPS,)), *times], "tag", [legend], part))
    return tables


# Recall against QPS: all points by recall, and the fastest that reaches each limit.

_LIMITS = (1.000, 0.99, 0.98, 0.97, 0.96, 0.95)
_INDEX = "index_seconds"
_INDEX_LEGEND = "index: seconds that it took to make the index"


def recall_tables(block: Block) -> list[Table]:
    """Sort by recall, as it is shown with three digits, and of equal ones by speed; arms without figures come last."""
    subjects = block.subjects()
    points = sorted(
        (
            (spot.values["recall"], spot.values["qps"], name, spot)
            for name, spot in subjects
            if not spot.status and spot.values.keys() >= {"recall", "qps"}
        ),
        key=lambda point: (-round(point[0], 3), -point[1], point[2]),
    )
    has_index = any(_INDEX in spot.values for *_, spot in points)
    names, legend = (["recall", "qps", "index"], (_INDEX_LEGEND,)) if has_index else (["recall", "qps"], ())
    lines = [
        (
            *(Cell(f"{recall:.3f}"), Cell(f"{qps:.1f}")),
            *([fixed(spot, spot.values.get(_INDEX), 1)] if has_index else []),
            Cell(name),
        )
        for recall, qps, name, spot in points
    ]
    failures = [(*(status_cell(spot.status) for _ in names), Cell(name)) for name, spot in subjects if spot.status]
    best = []
    for limit in _LIMITS:
        enough = [index for index, (recall, *_) in enumerate(points) if round(recall, 3) >= limit]
        if enough:
            best.append((Cell(f">= {limit:.3f}"), *lines[max(enough, key=lambda index: points[index][1])]))
    heads, best_heads = columns(names, ["parameters"]), columns(["asked", *names], ["parameters"])
    tables = [block.table(heads, [*lines, *failures])] if lines or failures else []
    return [*tables, *([block.table(best_heads, best, "best QPS by recall", notes=legend)] if best else [])]


VMSTAT = _arm_layout(
    "vmstat averages", _VMSTAT, "version", "cs: context switches/s; us, sy, id, wa: % of the time of all cores"
)
IOSTAT = _arm_layout(
    "iostat averages",
    _IOSTAT,
    "name",
    "rps, wps: requests/s; rMBps, wMBps: MiB/s; rawait, wawait: ms; rareqsz, wareqsz: KiB a request",
    "waits and sizes: means of the seconds' own ratios; -: the step made no such requests",
)
PERCENTILES = _arm_layout("response time", _PERCENTILES, "version", "microseconds")
PER_OPERATION = Layout("per operation", cost_tables, (BASE,), (), (STEP, RANGE, ARMS), _COST_METRICS, compares=True)
RESPONSE_TIMES = Layout(
    "response times by class",
    class_tables,
    metrics=("max_insert_seconds", "max_delete_seconds", "max_query_seconds"),
    times=True,
)
LINKBENCH = Layout(
    "linkbench response times",
    linkbench_tables,
    metrics=tuple(name for part in _LINKBENCH_COLUMNS.values() for column in part for name in column.metrics),
)
RECALL = Layout("recall and QPS", recall_tables, metrics=("recall",), earlier=(_INDEX,))
