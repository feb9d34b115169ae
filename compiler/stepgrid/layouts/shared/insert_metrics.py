"""What a row or a query of the insert benchmark cost: a table for each step, by the names of the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stepgrid.layouts.shared import insert_rates
from stepgrid.layouts.shared.base_row import base_row
from stepgrid.model import number_format
from stepgrid.model.table import ABSENT, NOTHING, Cell, Table, columns
from stepgrid.plugins.layout import Block, LayoutCell, fixed

# head -> decimals
HEADS: Mapping[str, int] = {
    "ips": 0, "qps": 0, "rps": 0, "rmbps": 1, "wps": 1, "wmbps": 1, "rpq": 3, "rkbpq": 3, "wpi": 3, "wkbpi": 3,
    "csps": 0, "cpups": 1, "cspq": 3, "cpupq": 0, "ccpupq": 0, "dbgb1": 1, "dbgb2": 1, "vsz": 1, "rss": 1, "maxop": 3,
    "p50": 0, "p99": 0,
}  # fmt: skip
GIB = 2**-30
_PLAIN = {
    "ips": "inserts_per_s",
    "rps": "device_reads_per_s",
    "rmbps": "device_read_mb_per_s",
    "wps": "device_writes_per_s",
    "wmbps": "device_write_mb_per_s",
    "rpq": "reads_per_op",
    "rkbpq": "read_kb_per_op",
    "wpi": "writes_per_insert",
    "wkbpi": "write_kb_per_insert",
    "csps": "context_switches_per_s",
    "cpups": "host_cpu_busy_pct",
    "cspq": "context_switches_per_op",
    "cpupq": "host_cpu_us_per_op",
    "ccpupq": "client_cpu_us_per_op",
    "dbgb1": "tables_bytes",
    "dbgb2": "database_bytes",
    "vsz": "server_virtual_bytes",
    "rss": "server_rss_bytes",
    "maxop": "max_us",
    "p50": "median_qps",
    "p99": "worst_qps_p99",
}
_SCALES = {"dbgb1": GIB, "dbgb2": GIB, "vsz": GIB, "rss": GIB, "maxop": 1e-6}
_ONE_OF: Mapping[bool, Mapping[str, str]] = {  # by whether there are queries
    True: {"maxop": "max_query_seconds"},
    False: {"maxop": "max_insert_seconds", "p50": "median_inserts_per_s", "p99": "worst_inserts_per_s_p99"},
}
_FIRST_CLIENT = {"p50": "first_client_p50_rate", "p99": "first_client_p99_rate"}  # all that a published row has
_SUMS = (
    ("cpups", ("host_cpu_user_pct", "host_cpu_system_pct"), 1.0),
    ("dbgb1", ("data_bytes", "index_bytes"), GIB),
)
SELDOM = ("qps", "ccpupq", "vsz")  # columns that are there where a row has them: of some steps and releases alone
LEGEND = (
    "rpq, rkbpq, cspq, cpupq, ccpupq: per query, or per row where there are none; wpi, wkbpi: per row; "
    "dbgb1: GB of tables and indexes; dbgb2: of the data folder; maxop: seconds; "
    "p50, p99: rates that half, and 99 %, of the seconds reached, of a published row those of the first client"
)


def tables(block: Block) -> list[Table]:
    return [table for column in range(len(block.columns)) for table in _tables(block, column)]


def _tables(block: Block, column: int) -> Iterator[Table]:
    """Of a step: what a row or a query cost, and that relative to the base."""
    spots = [(block.row(row), block.spot(row, column)) for row in range(len(block.rows))]
    there = [(name, spot) for name, spot in spots if spot.status != ABSENT and (spot.status or figures(spot.values))]
    heads = [head for head in HEADS if head not in SELDOM or any(head in figures(spot.values) for _, spot in there)]
    rows = [(*cells(spot, heads), Cell(name)) for name, spot in there]
    names, step = columns(heads, ["tag"]), block.column(column)
    yield block.table(names, rows, step, "metrics", notes=[LEGEND])
    known = {name: row for row, (name, spot) in zip(rows, there, strict=True) if not spot.status}
    base = base_row(known, block.base)
    if base is not None and len(known) > 1:
        others = [_relative(row, known[base]) for name, row in known.items() if name != base]
        yield block.table(names, others, step, f"metrics relative to {base}")


def _relative(row: Sequence[Cell], base: Sequence[Cell]) -> list[Cell]:
    """Of the figures as they are shown; the name of the row stays."""
    return [*(_ratio(mine, first) for mine, first in zip(row[:-1], base[:-1], strict=True)), row[-1]]


def _ratio(mine: Cell, base: Cell) -> Cell:
    if mine.kind or base.kind:
        return Cell(NOTHING, "missing")
    return Cell(number_format.ratio_to(float(mine.text), float(base.text)))


def cells(spot: LayoutCell, heads: Sequence[str]) -> list[Cell]:
    found = figures(spot.values)
    return [fixed(spot, found.get(head), HEADS[head]) for head in heads]


def figures(values: Mapping[str, float]) -> dict[str, float]:
    own = {head: values[name] * _SCALES.get(head, 1) for head, name in _PLAIN.items() if name in values}
    asked = insert_rates.queries(values)
    found = {**_instead(values), **({} if asked is None else {"qps": asked}), **own}
    return {**_per(found, found.get("qps") or found.get("ips"), _QUERY), **_per(found, found.get("ips"), _ROW), **found}


def _instead(values: Mapping[str, float]) -> dict[str, float]:
    """Of the columns that no one metric has, or not this step's."""
    own = _ONE_OF[insert_rates.queries(values) is not None]
    found = {head: values[name] for names in (_FIRST_CLIENT, own) for head, name in names.items() if name in values}
    for head, parts, scale in _SUMS:
        if all(name in values for name in parts):
            found[head] = sum(values[name] for name in parts) * scale
    return found


_QUERY = {"rpq": ("rps", 1), "rkbpq": ("rmbps", 1024), "cspq": ("csps", 1)}
_ROW = {"wpi": ("wps", 1), "wkbpi": ("wmbps", 1024)}


def _per(found: Mapping[str, float], rate: float | None, what: Mapping[str, tuple[str, int]]) -> dict[str, float]:
    if not rate:
        return {}
    return {head: found[name] * scale / rate for head, (name, scale) in what.items() if name in found}
