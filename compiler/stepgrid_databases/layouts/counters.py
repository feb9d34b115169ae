"""Tables of an engine: its counters by name, CPU by function, write stalls, levels of an LSM tree, table sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from stepgrid.host.sampling import UNNAMED
from stepgrid.model import units
from stepgrid.model.records import replace
from stepgrid.model.result_schema import HEADINGS
from stepgrid.model.table import NOTHING, Cell, Column, Table, columns, status_cell
from stepgrid.model.units import as_number
from stepgrid.plugins.layout import (
    ARMS,
    BASE,
    STEP,
    Block,
    FunctionTime,
    Layout,
    LayoutCell,
    Level,
    Object,
    cell,
    fixed,
    legend,
)

PERF = (
    "perf_instructions", "perf_cycles", "perf_instructions_per_cycle", "perf_branches", "perf_branch_misses",
    "perf_cache_references", "perf_cache_misses", "perf_context_switches", "perf_cpu_migrations", "perf_page_faults",
    "perf_user_instructions", "perf_user_cycles", "perf_user_instructions_per_cycle", "perf_user_branches",
    "perf_user_branch_misses", "perf_user_cache_references", "perf_user_cache_misses", "perf_user_page_faults",
)  # fmt: skip


def counter_tables(block: Block) -> list[Table]:
    """Make a row for each counter and a column for each arm: absolute, and relative to the first arm."""
    subjects = block.subjects()
    metrics = block.metrics or (() if block.counters else PERF)
    names = [name for name in metrics if any(name in spot.values for _, spot in subjects)] + _largest_counters(block)
    if not names:
        return []
    heads, before = legend([name for name, _ in subjects])
    absolute = ((Cell(block.call(name)), *(amount_cell(spot, name) for _, spot in subjects)) for name in names)
    tables = [block.table(columns(heads, ["name"], last=False), absolute, before=before)]
    (base, base_spot), *arms = subjects
    values = base_spot.values
    shared = [name for name in names if name in values and any(name in spot.values for _, spot in arms)]
    if shared and not base_spot.status:
        heads, before = legend([name for name, _ in arms])
        rows = (
            (*(cell(spot, relative(spot.values.get(name), values[name])) for _, spot in arms), Cell(block.call(name)))
            for name in shared
        )
        tables.append(block.table(columns(heads, ["name"]), rows, before=(f"relative to {base}", *before), notes=()))
    return tables


def _largest_counters(block: Block) -> list[str]:
    """List counters that the table names, and those of a pattern that grew anywhere, the largest first."""
    largest: dict[str, float] = {}
    for spot in block.spots.values():
        for name, value in spot.values.items():
            if any(fnmatchcase(name, pattern) for pattern in block.counters):
                largest[name] = max(largest.get(name, value), value)
    names = [name for name, value in largest.items() if value or name in block.counters]
    return sorted(names, key=lambda name: -largest[name])[: block.top]


def amount_cell(spot: LayoutCell, name: str) -> Cell:
    value = spot.values.get(name)
    return cell(spot, None if value is None else f"{value:.0f}" if value >= 100 or value % 1 == 0 else f"{value:.3f}")


def relative(value: float | None, base: float) -> str | None:
    """Divide; of a counter that both lack (-1) the ratio is 1.000, as of two that counted nothing."""
    if value is None:
        return None
    if value == base:
        return "1.000"
    return "INF" if base == 0 or not math.isfinite(value) else f"{value / base:.3f}"


# Write stalls of RocksDB: a row for each counter, by RocksDB's name. Zeros are shown.

STALL_METRICS: Mapping[str, str] = {
    "cf-l0-file-count-limit-delays-with-ongoing-compaction": "stall_l0_compacting_delays",
    "cf-l0-file-count-limit-stops-with-ongoing-compaction": "stall_l0_compacting_stops",
    "l0-file-count-limit-delays": "stall_l0_delays",
    "l0-file-count-limit-stops": "stall_l0_stops",
    "memtable-limit-delays": "stall_memtable_delays",
    "memtable-limit-stops": "stall_memtable_stops",
    "pending-compaction-bytes-delays": "stall_pending_delays",
    "pending-compaction-bytes-stops": "stall_pending_stops",
    "total-delays": "stall_delays",
    "total-stops": "stall_stops",
}
_CAUSES = ("stall_l0", "stall_memtable", "stall_pending")


def stall_tables(block: Block) -> list[Table]:
    """Make a column for each arm with figures."""
    subjects = [(name, spot) for name, spot in block.subjects() if not spot.status]
    heads, before = legend([name for name, _ in subjects])
    rows = (
        (*(fixed(spot, _stalls(spot.values, metric), 0) for _, spot in subjects), Cell(counter))
        for counter, metric in STALL_METRICS.items()
    )
    return [block.table(columns(heads, ["counter"]), rows, before=before)] if subjects else []


def _stalls(values: Mapping[str, float], metric: str) -> float | None:
    """Sum the three causes for a total that was not printed: rows of `cf-` are parts of them."""
    if metric in values or metric not in ("stall_delays", "stall_stops"):
        return values.get(metric)
    parts = [f"{cause}_{metric.removeprefix('stall_')}" for cause in _CAUSES]
    return sum(values[part] for part in parts) if values.keys() >= {*parts} else None


# Compaction statistics at the end of a step, as RocksDB prints them.

_BRIEF = (
    "bytes", "read_bytes", "write_bytes", "write_amplification", "seconds", "cpu_seconds", "compactions",
    "keys_dropped",
)  # fmt: skip


def level_tables(block: Block) -> list[Table]:
    """Make a table for each arm, with a row for each level."""
    tables = []
    for name, spot in block.subjects():
        if spot.levels:
            heads = _filled_headings(spot.levels)
            rows = ((Cell(str(level["level"])), *_level_cells(level, heads)) for level in spot.levels)
            head_columns = (Column("Level", label=True), *(Column(HEADINGS[head].heading) for head in heads))
            tables.append(block.table(head_columns, rows, name, notes=()))
    return tables


def level_sum_tables(block: Block) -> list[Table]:
    """Show the most important columns of the row `Sum` of each arm in one table."""
    sums = [
        (name, spot, next((level for level in spot.levels if level["level"] == "Sum"), {}))
        for name, spot in block.subjects()
    ]
    heads = [head for head in _filled_headings([level for _, _, level in sums]) if head in _BRIEF]
    rows = []
    for name, spot, level in sums:
        cells = [status_cell(spot.status) for _ in heads] if spot.status else _level_cells(level, heads)
        rows.append((*cells, Cell(name)))
    head_columns = (*(Column(HEADINGS[head].heading) for head in heads), Column("version", label=True))
    return [block.table(head_columns, rows)] if heads else []


def _filled_headings(levels: Sequence[Level]) -> list[str]:
    return [head for head in HEADINGS if any(level.get(head) is not None for level in levels)]


def _level_cells(level: Level, heads: Sequence[str]) -> list[Cell]:
    cells = []
    for head in heads:
        value, compacting = as_number(level.get(head)), as_number(level.get("compacting_files"))
        if value is None:
            cells.append(Cell(NOTHING, "missing"))
            continue
        text = HEADINGS[head].form(value)
        files = head == "files" and compacting is not None
        cells.append(Cell(f"{text}/{compacting:.0f}" if files else text))
    return cells


# Rows, size and garbage of each table and index that a step has left.

# column of the table `sizes` -> its heading, and how it is shown
_SIZE_COLUMNS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "rows": ("rows", units.figure),
    "bytes": ("size", units.size),
    "dead_rows": ("dead rows", units.figure),
    "tombstones": ("tombstones", units.figure),
    "bloat_bytes": ("bloat", units.size),
}


def table_size_tables(block: Block) -> list[Table]:
    subjects = [(name, spot) for name, spot in block.subjects() if spot.objects or spot.status]
    objects = [item for _, spot in subjects for item in spot.objects]
    names = [name for name in _SIZE_COLUMNS if any(item.get(name) is not None for item in objects)]
    if not names:
        return []
    heads = (
        *(Column(name, label=True) for name in ("config", "table", "index")),
        *(Column(_SIZE_COLUMNS[name][0]) for name in names),
    )
    return [block.table(heads, (row for name, spot in subjects for row in _size_rows(name, spot, names)))]


def _size_rows(subject: str, spot: LayoutCell, names: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    if spot.status:
        yield (Cell(subject), Cell(NOTHING), Cell(""), *(status_cell(spot.status) for _ in names))

    def table_and_index(item: Object) -> tuple[str, str]:
        return str(item["table_name"]), str(item["index_name"] or "")

    for item in sorted(spot.objects, key=table_and_index):
        cells = []
        for name in names:
            value = as_number(item.get(name))
            if value is not None:
                cells.append(Cell(_SIZE_COLUMNS[name][1](value)))
            else:
                cells.append(Cell(NOTHING, "missing"))
        yield (Cell(subject), *map(Cell, table_and_index(item)), *cells)


# Microseconds per operation as the collector perf_record sampled them: of CPU by function, of threads by what they did.

WAITS = "off the CPU"


def function_tables(block: Block) -> list[Table]:
    note = "\u00b5s of CPU per operation of the functions themselves, as sampled"
    tables = _time_tables(block, "function", lambda spot: spot.functions, note)
    note = "\u00b5s per operation of the threads that worked, asleep by function of the kernel, as sampled"
    is_hidden = any(name in UNNAMED.values() for spot in block.spots.values() for name in spot.waits)
    notes = ("the kernel does not show wait channels here: sleeps by state",) if is_hidden else ()
    waits = replace(block, title=WAITS, notes=notes)
    return [*tables, *_time_tables(waits, "wait channel", lambda spot: spot.waits, note)]


def _time_tables(
    block: Block, label: str, times_of: Callable[[LayoutCell], Mapping[str, FunctionTime]], note: str
) -> list[Table]:
    """Make a row for each name, a column for each arm, and one for its change from the base."""
    is_line = len(block.rows) == 1
    named = zip(block.heads(block.unnamed), block.line(0), strict=True) if is_line else block.subjects()
    subjects = [(name, times) for name, spot in named if (times := times_of(spot))]
    if not subjects:
        return []
    names, arms = [name for name, _ in subjects], [times for _, times in subjects]
    heads, before = legend(names)
    changed = [at for at, times in enumerate(arms) if any(time.change is not None for time in times.values())]
    change_heads = ["change"] if len(changed) == 1 else [f"change of {heads[at]}" for at in changed]
    most = max(time.microseconds for times in arms for time in times.values())
    digits = max(0, 2 - math.floor(math.log10(most))) if most > 0 else 2
    rows = []
    for name in arms[0]:
        row = [times[name] for times in arms]
        values = [Cell(f"{time.microseconds:.{digits}f}", value=time.microseconds) for time in row]
        rows.append((Cell(name), *values, *(_change_cell(row[at], digits) for at in changed)))
    loads = any(time.reach is not None for times in arms for time in times.values())
    interval = ", \u00b1: its 95 % interval over the loads" if loads else ", of one load without an interval"
    head_columns = (Column(label, label=True), *map(Column, (*heads, *change_heads)))
    notes = (f"{note}{interval if changed else ''}", *block.notes)
    return [block.table(head_columns, rows, before=before, notes=notes)]


def _change_cell(time: FunctionTime, digits: int) -> Cell:
    if time.change is None:
        return Cell(NOTHING, "missing")
    text = f"{time.change:+.{digits}f}"
    if time.reach is None:
        return Cell(text, value=time.change)
    ends = time.change - time.reach, time.change + time.reach
    return Cell(f"{text} \u00b1 {time.reach:.{digits}f}", value=time.change, interval=ends)


COUNTERS = Layout("counters", counter_tables, metrics=PERF, own_metrics=True)
FUNCTIONS = Layout("CPU by function", function_tables, (), (BASE,), (STEP, ARMS), functions=True, compares=True)
STALLS = Layout("write stalls", stall_tables, metrics=tuple(STALL_METRICS.values()))
COMPACTION = Layout("compaction", level_tables, levels=True)
COMPACTION_SUM = Layout("compaction, all levels", level_sum_tables, levels=True)
TABLE_SIZES = Layout("sizes of tables and indexes", table_size_tables, objects=True)
