"""Tables with a row for each arm: averages of vmstat and iostat, cost of an operation, response times, recall."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from stepgrid.model import units
from stepgrid.model.figures import LATENCY_CLASSES
from stepgrid.model.metrics import QPS
from stepgrid.model.table import Cell, Table, columns, status_cell
from stepgrid.plugins.layout import ARMS, BASE, RANGE, STEP, Block, Layout, LayoutCell, cell, fixed
from stepgrid_databases.layouts.figures import base_row

Averages = Mapping[str, tuple[tuple[str, ...], int]]  # head -> the metrics that it is the sum of, decimals

_VMSTAT: Averages = {
    "cs": (("context_switches_per_s",), 0),
    "us": (("host_cpu_user_pct",), 1),
    "sy": (("host_cpu_system_pct",), 1),
    "us+sy": (("host_cpu_user_pct", "host_cpu_system_pct"), 1),
    "id": (("host_cpu_idle_pct",), 1),
    "wa": (("host_cpu_iowait_pct",), 1),
}
_IOSTAT: Averages = {
    "rps": (("device_reads_per_s",), 0),
    "rMBps": (("device_read_mb_per_s",), 1),
    "rawait": (("device_read_await_ms",), 2),
    "rareqsz": (("device_read_request_kb",), 1),
    "wps": (("device_writes_per_s",), 0),
    "wMBps": (("device_write_mb_per_s",), 1),
    "wawait": (("device_write_await_ms",), 2),
    "wareqsz": (("device_write_request_kb",), 1),
}
_PERCENTILES: Averages = {
    "p50": (("p50_us",), 1),
    "p99": (("p99_us",), 0),
    "p99.9": (("p99_9_us",), 0),
    "p99.99": (("p99_99_us",), 0),
    "pmax": (("max_us",), 0),
}


def _average_layout(title: str, averages: Averages, name: str, *legend: str) -> Layout:
    metrics = tuple(dict.fromkeys(metric for names, _ in averages.values() for metric in names))
    return Layout(title, partial(_average_tables, averages=averages, name=name, legend=legend), metrics=metrics)


def _average_tables(block: Block, averages: Averages, name: str, legend: Sequence[str]) -> list[Table]:
    rows = []
    for subject, spot in block.subjects():
        values = (
            (sum(spot.values[name] for name in names) if spot.values.keys() >= {*names} else None, digits)
            for names, digits in averages.values()
        )
        rows.append((*(fixed(spot, value, digits) for value, digits in values), Cell(subject)))
    return [block.table(columns(averages, [name]), rows, notes=(*block.notes, *legend))]


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
        rows = []
        for subject, spot in block.subjects():
            shares: Sequence[float | None] = spot.times.get(operation) or [None] * len(LATENCY_CLASSES)
            longest = fixed(spot, _longest(spot.values, operation), 3)
            rows.append((*(cell(spot, percent(share)) for share in shares), longest, Cell(subject)))
        tables.append(
            block.table(
                columns((*LATENCY_CLASSES, "max"), ["tag"]), rows, operation, notes=(*block.notes, *_CLASS_LEGEND)
            )
        )
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

_LINKBENCH: Mapping[str, Mapping[str, str]] = {
    "nodes": {"an": "addnode", "un": "updatenode", "dn": "deletenode", "gn": "getnode"},
    "links": {
        "al": "addlink", "dl": "deletelink", "ul": "updatelink", "cl": "countlink", "mg": "getlink",
        "gll": "getlinklist",
    },
}  # fmt: skip
_LINKBENCH_TIMES: Mapping[str, tuple[str, int]] = {"9": ("p99_us", 2), "x": ("max_us", 1), "m": ("avg_us", 3)}
_LINKBENCH_LEGEND = "milliseconds; 9: 99th percentile, x: longest, m: mean; ips: requests/s"
_LINKBENCH_METRICS = tuple(
    f"{name}_{time}"
    for operations in _LINKBENCH.values()
    for name in operations.values()
    for time, _ in _LINKBENCH_TIMES.values()
)


def linkbench_tables(block: Block) -> list[Table]:
    """Make a table for each part, but for a load, which has no operations."""
    spots = [spot for spot in block.spots.values() if spot.values]
    tables = []
    for part, operations in _LINKBENCH.items():
        if spots and not any(f"{name}_max_us" in spot.values for spot in spots for name in operations.values()):
            continue
        heads = [f"{short}{mark}" for short in operations for mark in _LINKBENCH_TIMES]
        rows = ((*_linkbench_cells(spot, operations.values()), Cell(subject)) for subject, spot in block.subjects())
        legend = f"{_LINKBENCH_LEGEND}; {', '.join(f'{short}: {name}' for short, name in operations.items())}"
        tables.append(block.table(columns(("ips", *heads), ["tag"]), rows, part, notes=(*block.notes, legend)))
    return tables


def _linkbench_cells(spot: LayoutCell, operations: Iterable[str]) -> list[Cell]:
    cells = [fixed(spot, spot.values.get("qps"), 0)]
    for name in operations:
        for time, digits in _LINKBENCH_TIMES.values():
            value = spot.values.get(f"{name}_{time}")
            cells.append(fixed(spot, None if value is None else value / 1000, digits))
    return cells


# Recall against QPS: all points by recall, and the fastest that reaches each limit.

_LIMITS = (1.000, 0.99, 0.98, 0.97, 0.96, 0.95)


def recall_tables(block: Block) -> list[Table]:
    """Sort by recall, as it is shown with three digits, and of equal ones by speed; arms without figures come last."""
    subjects = block.subjects()
    points = sorted(
        (
            (spot.values["recall"], spot.values["qps"], name)
            for name, spot in subjects
            if not spot.status and spot.values.keys() >= {"recall", "qps"}
        ),
        key=lambda point: (-round(point[0], 3), -point[1], point[2]),
    )
    lines = [(Cell(f"{recall:.3f}"), Cell(f"{qps:.1f}"), Cell(name)) for recall, qps, name in points]
    failures = [
        (status_cell(spot.status), status_cell(spot.status), Cell(name)) for name, spot in subjects if spot.status
    ]
    best = []
    for limit in _LIMITS:
        enough = [index for index, (recall, _, _) in enumerate(points) if round(recall, 3) >= limit]
        if enough:
            best.append((Cell(f">= {limit:.3f}"), *lines[max(enough, key=lambda index: points[index][1])]))
    heads, best_heads = columns(["recall", "qps"], ["parameters"]), columns(["asked", "recall", "qps"], ["parameters"])
    tables = [block.table(heads, [*lines, *failures])] if lines or failures else []
    return [*tables, *([block.table(best_heads, best, "best QPS by recall", notes=())] if best else [])]


VMSTAT = _average_layout(
    "vmstat averages", _VMSTAT, "version", "cs: context switches/s; us, sy, id, wa: % of the time of all cores"
)
IOSTAT = _average_layout(
    "iostat averages",
    _IOSTAT,
    "name",
    "rps, wps: requests/s; rMBps, wMBps: MiB/s; rawait, wawait: ms; rareqsz, wareqsz: KiB a request",
    "waits and sizes: means of the seconds' own ratios; -: the step made no such requests",
)
PERCENTILES = _average_layout("response time", _PERCENTILES, "version", "microseconds")
PER_OPERATION = Layout("per operation", cost_tables, (BASE,), (), (STEP, RANGE, ARMS), _COST_METRICS, compares=True)
RESPONSE_TIMES = Layout(
    "response times by class",
    class_tables,
    metrics=("max_insert_seconds", "max_delete_seconds", "max_query_seconds"),
    times=True,
)
LINKBENCH = Layout("linkbench response times", linkbench_tables, metrics=_LINKBENCH_METRICS)
RECALL = Layout("recall and QPS", recall_tables, metrics=("recall",))
