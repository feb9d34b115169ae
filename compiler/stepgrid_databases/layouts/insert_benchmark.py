"""Tables of the insert benchmark: throughput, the same to the base, rates under their target, costs, sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from stepgrid.model import units
from stepgrid.model.figures import FAILED_RATE, is_sustained
from stepgrid.model.metrics import QPS
from stepgrid.model.records import replace
from stepgrid.model.table import ABSENT, NOTHING, Cell, Table, columns
from stepgrid.plugins.layout import ARMS, BASE, MARK, STEP, Block, Layout, LayoutCell, cell, fixed
from stepgrid.plugins.metrics import PUBLISHED
from stepgrid_databases.layouts.figures import base_row

INSERTS, TARGET = "inserts_per_s", "target_inserts_per_s"
_FAILED_NOTE = f"{MARK}: failed its rate: less than 95 % of the rows/s that were asked of all clients"
Values = Mapping[str, float]


def tables(block: Block) -> list[Table]:
    rates = [_throughput_table(block), *_relative_tables(block), *_target_tables(block)]
    return [*rates, *metric_tables(block), *_size_tables(block)]


def _throughput_table(block: Block) -> Table:
    colours = []
    for column in range(len(block.columns)):
        spots = [block.spot(row, column) for row in range(len(block.rows))]
        rates = [Rate(None if spot.status else speed(spot.values), sustained(spot.values)) for spot in spots]
        colours.append(coloured(rates))

    def show(row: int, column: int) -> Cell:
        spot = block.spot(row, column)
        return _rate_cell(spot, speed(spot.values), colours[column][row])

    notes = (*block.notes, "l.*: rows/s; q*: queries/s", *_failure_notes(block))
    return replace(_grid_table(block, "throughput", range(len(block.columns)), show), notes=notes)


def _relative_tables(block: Block) -> list[Table]:
    rows = _rows(block)
    measured = {block.row(row): row for row in rows if any(not spot.status for spot in block.line(row))}
    name = base_row(measured, block.base)
    if name is None or len(rows) < 2:
        return []
    base = measured[name]

    def show(row: int, column: int) -> Cell:
        spot = block.spot(row, column)
        ratio = block.ratio((row, column), (base, column), speed_metric(spot.values))
        missing = ratio is None or block.spot(base, column).status
        plain = cell(spot, None if missing else units.ratio(ratio or 0.0))
        return plain if plain.kind else Cell(plain.text, ratio_colour(round(ratio or 0.0, 2)), ratio)

    return [_grid_table(block, f"relative to {name}", range(len(block.columns)), show)]


def _target_tables(block: Block) -> list[Table]:
    """Show insert rates under a row of their targets, or beside them where a column has several."""
    targets: dict[int, list[float]] = {}
    for (_, column), spot in sorted(block.spots.items()):
        if TARGET in spot.values and spot.values[TARGET] not in targets.setdefault(column, []):
            targets[column].append(spot.values[TARGET])
    if not targets:
        return []
    across = sorted(targets)
    uniform = all(len(values) == 1 for values in targets.values())

    def show(row: int, column: int) -> Cell:
        spot = block.spot(row, column)
        target = None if uniform else spot.values.get(TARGET)
        suffix = "" if target is None else f" of {units.fixed(target, 0)}"
        return _rate_cell(spot, spot.values.get(INSERTS), "" if sustained(spot.values) else "worst", suffix)

    table = _grid_table(block, "insert rate against target", across, show)
    head = (Cell("target"), *(Cell(units.fixed(targets[column][0], 0) or "") for column in across))
    rows = (head, *table.rows) if uniform else table.rows
    return [replace(table, rows=rows, notes=(*block.notes, *_failure_notes(block)))]


def _rate_cell(spot: LayoutCell, rate: float | None, kind: str, suffix: str = "") -> Cell:
    plain = fixed(spot, rate, 0)
    mark = "" if sustained(spot.values) else MARK
    return plain if plain.kind else Cell(f"{plain.text}{mark}{suffix}", kind, rate)


def _grid_table(block: Block, part: str, across: Sequence[int], show: Callable[[int, int], Cell]) -> Table:
    rows = [(Cell(block.row(row)), *(show(row, column) for column in across)) for row in _rows(block)]
    heads = block.heads()
    return block.table(columns([heads[column] for column in across], ["dbms"], last=False), rows, part)


def _rows(block: Block) -> list[int]:
    """Choose rows with figures or a reason for none: published probes have no rates beside them."""
    return [
        row
        for row in range(len(block.rows))
        if any(spot.status not in ("", ABSENT) or speed(spot.values) is not None for spot in block.line(row))
    ]


def _failure_notes(block: Block) -> tuple[str, ...]:
    return () if all(sustained(spot.values) for spot in block.spots.values()) else (_FAILED_NOTE,)


# Rates of a step: its speed, and whether it sustained its target.


def queries(values: Values) -> float | None:
    """Queries per second. Where a step only inserts, its qps are rows; one that queries has a target for these."""
    only_inserts = INSERTS in values and TARGET not in values
    return None if only_inserts else values.get(QPS)


def speed_metric(values: Values) -> str:
    """Choose queries/s of a step that queries, rows/s of one that only inserts."""
    return INSERTS if queries(values) is None else QPS


def speed(values: Values) -> float | None:
    return values.get(speed_metric(values))


def sustained(values: Values) -> bool:
    """Compare figures as they are shown: over several loads, their means."""
    rate, target = values.get(INSERTS), values.get(TARGET)
    return rate is None or target is None or is_sustained(rate, target)


# Colours of published tables.


class Rate(NamedTuple):
    value: float | None
    sustained: bool = True  # one that failed its target counts for nothing


def coloured(column: Sequence[Rate]) -> list[str]:
    """Mark rates up to a quarter of the range above the lowest as worst, those of the upper quarter as best.

    Rates that failed their target are grey; from 80 % of the highest on nothing is bad.
    """
    values = [rate.value for rate in column if rate.sustained and rate.value is not None]
    low, high = min(values, default=0.0), max(values, default=0.0)
    margin = 0.25 * (high - low)
    kinds = []
    for value, sustains in column:
        kind = ""
        if not sustains:
            kind = FAILED_RATE
        elif value is not None and low < 0.8 * high and value <= low + margin:
            kind = "worst"
        elif value is not None and high > low and value >= high - margin:
            kind = "best"
        kinds.append(kind)
    return kinds


def ratio_colour(ratio: float) -> str:
    return "less" if ratio < 0.95 else "more" if ratio > 1.05 else ""


# Costs of a row or a query: a table for each step, by the names of the published ones.

_GIB = 2**-30
# head -> decimals
_HEADS: Mapping[str, int] = {
    "ips": 0, "qps": 0, "rps": 0, "rmbps": 1, "wps": 1, "wmbps": 1, "rpq": 3, "rkbpq": 3, "wpi": 3, "wkbpi": 3,
    "csps": 0, "cpups": 1, "cspq": 3, "cpupq": 0, "ccpupq": 0, "dbgb1": 1, "dbgb2": 1, "vsz": 1, "rss": 1, "maxop": 3,
    "p50": 0, "p99": 0,
}  # fmt: skip
_METRICS = {head: metric for metric, head in PUBLISHED["insert_benchmark"].items() if head in _HEADS and head != QPS}
_METRICS |= {"cpups": "host_cpu_busy_pct", "maxop": "max_us"}
_SCALES = {"dbgb1": _GIB, "dbgb2": _GIB, "vsz": _GIB, "rss": _GIB, "maxop": 1e-6}
# where a step has none of these, in the order of preference: of the first client, all that a published row has
_FIRST_CLIENT = {"p50": "first_client_p50_rate", "p99": "first_client_p99_rate"}
_OF_QUERIES = {"maxop": "max_query_seconds"}
_OF_INSERTS = {"maxop": "max_insert_seconds", "p50": "median_inserts_per_s", "p99": "worst_inserts_per_s_p99"}
_SUMS = {
    "cpups": (("host_cpu_user_pct", "host_cpu_system_pct"), 1.0),
    "dbgb1": (("data_bytes", "index_bytes"), _GIB),
}
# head -> what is divided by the rate of queries, or of rows where there are none; and by that of rows
_PER_QUERY = {"rpq": ("rps", 1), "rkbpq": ("rmbps", 1024), "cspq": ("csps", 1)}
_PER_ROW = {"wpi": ("wps", 1), "wkbpi": ("wmbps", 1024)}
_RARE = ("qps", "ccpupq", "vsz")  # columns that some steps and releases have
_LEGEND = (
    "rpq, rkbpq, cspq, cpupq, ccpupq: per query, or per row where there are none; wpi, wkbpi: per row; "
    "dbgb1: GB of tables and indexes; dbgb2: of the data folder; maxop: seconds; "
    "p50, p99: rates that half, and 99 %, of the seconds reached, of a published row those of the first client"
)


def metric_tables(block: Block) -> list[Table]:
    """Show the costs of each step, and relative to the base."""
    tables = []
    for column in range(len(block.columns)):
        spots = [(block.row(row), block.spot(row, column)) for row in range(len(block.rows))]
        figures = [(name, spot, costs(spot.values)) for name, spot in spots if spot.status != ABSENT]
        figures = [(name, spot, values) for name, spot, values in figures if spot.status or values]
        heads = [head for head in _HEADS if head not in _RARE or any(head in values for _, _, values in figures)]
        rows = [
            (name, spot, [fixed(spot, values.get(head), _HEADS[head]) for head in heads])
            for name, spot, values in figures
        ]
        step, names = block.column(column), columns(heads, ["tag"])
        lines = ((*cells, Cell(name)) for name, _, cells in rows)
        tables.append(block.table(names, lines, step, "metrics", notes=[_LEGEND]))
        measured = {name: cells for name, spot, cells in rows if not spot.status}
        base = base_row(measured, block.base)
        if base is not None and len(measured) > 1:
            ratios = (
                (*map(_shown_ratio, cells, measured[base]), Cell(name))
                for name, cells in measured.items()
                if name != base
            )
            tables.append(block.table(names, ratios, step, f"metrics relative to {base}"))
    return tables


def _shown_ratio(figure: Cell, base: Cell) -> Cell:
    """Divide figures as they are shown."""
    if figure.kind or base.kind:
        return Cell(NOTHING, "missing")
    return Cell(units.ratio_to(float(figure.text), float(base.text)))


def costs(values: Values) -> dict[str, float]:
    rate = queries(values)
    figures: dict[str, float] = {} if rate is None else {"qps": rate}
    for names in (_METRICS, _OF_INSERTS if rate is None else _OF_QUERIES, _FIRST_CLIENT):
        for head, name in names.items():
            if name in values:
                figures.setdefault(head, values[name] * (_SCALES.get(head, 1) if names is _METRICS else 1))
    for head, (parts, scale) in _SUMS.items():
        if values.keys() >= {*parts}:
            figures.setdefault(head, sum(values[name] for name in parts) * scale)
    inserts = figures.get("ips")
    for heads, divisor in ((_PER_QUERY, figures.get("qps") or inserts), (_PER_ROW, inserts)):
        for head, (name, factor) in heads.items():
            if divisor and name in figures:
                figures.setdefault(head, figures[name] * factor / divisor)
    return figures


# Size of the database after each step.

# title of the part -> the metrics that it is the sum of: the first of which a spot has all
_SIZES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "size of tables and indexes": (("tables_bytes",), ("data_bytes", "index_bytes")),
    "size of the data folder": (("database_bytes",),),
}


def _size_tables(block: Block) -> list[Table]:
    tables = []
    for part, sums in _SIZES.items():
        if all(_size(spot, sums) is None for spot in block.spots.values()):
            continue
        rows = []
        for row in range(len(block.rows)):
            sizes = [(spot, _size(spot, sums)) for spot in block.line(row)]
            cells = [cell(spot, None if size is None else units.size(size), size) for spot, size in sizes]
            if any(size is not None or spot.status not in ("", ABSENT) for spot, size in sizes):
                rows.append((Cell(block.row(row)), *cells))
        heads = columns(block.heads(), ["dbms"], last=False)
        tables.append(block.table(heads, rows, part, notes=["at the end of the step"]))
    return tables


def _size(spot: LayoutCell, sums: Sequence[Sequence[str]]) -> float | None:
    names = next((names for names in sums if spot.values.keys() >= {*names}), None)
    return None if names is None else sum(spot.values[name] for name in names)


INSERT_BENCHMARK = Layout("insert benchmark", tables, (BASE,), (STEP,), (ARMS,), (INSERTS,), compares=True)
