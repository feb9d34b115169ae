"""Columns of the tables of results, in one place; SCHEMA is raised when their meaning changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

# The table `levels`: what an engine says of each level of its tree, over the time that it was open.


class LevelColumn(NamedTuple):
    """A figure of a level; RocksDB's heading of it and its way to print it, where it has one."""

    meaning: str
    heading: str = ""
    form: Callable[[float], str] = str


def _gib(value: float) -> str:
    return f"{value / 2**30:z.1f}"


def _count(value: float) -> str:
    """1662K: as RocksDB rounds it."""
    for factor, sign in ((10**9, "G"), (10**6, "M"), (10**3, "K")):
        if value >= 10 * factor:
            return f"{value / factor:.0f}{sign}"
    return f"{value:.0f}"


def _size(value: float) -> str:
    for power, sign in ((40, "TB"), (30, "GB"), (20, "MB")):
        if value >= 2**power:
            return f"{value / 2**power:.2f} {sign}"
    return f"{value / 1024:.2f} KB"


_DIGITS: Sequence[Callable[[float], str]] = ("{:.0f}".format, "{:.1f}".format, "{:.2f}".format, "{:.3f}".format)
_TENTHS = "printed in tenths of a GiB"
LEVEL_KEYS: Mapping[str, str] = {
    "family": "column family, where the engine has such",
    "level": "L0, L1 …; Sum: of all of them; Int: of them since the statistics before these; NULL: of a priority",
    "priority": "of the threads that did the work: Low (compactions), High (flushes) …; NULL: of a level",
}
LEVELS: Mapping[str, LevelColumn] = {
    "files": LevelColumn("live files", "Files", _DIGITS[0]),
    "compacting_files": LevelColumn("those of them that are being compacted"),
    "bytes": LevelColumn("size of the live files", "Size", _size),
    "score": LevelColumn("how full the level is: from 1 on it is compacted", "Score", _DIGITS[1]),
    "read_bytes": LevelColumn(f"what compactions into this level read; {_TENTHS}", "Read(GB)", _gib),
    "read_own_bytes": LevelColumn(f"that part of it that was read from the level above; {_TENTHS}", "Rn(GB)", _gib),
    "read_next_bytes": LevelColumn(f"that part of it that was read from this level; {_TENTHS}", "Rnp1(GB)", _gib),
    "write_bytes": LevelColumn(f"what flushes and compactions wrote into this level; {_TENTHS}", "Write(GB)", _gib),
    "write_uncompressed_bytes": LevelColumn(
        f"the same before compression (from RocksDB 10.3); {_TENTHS}", "WPreComp(GB)", _gib
    ),
    "write_new_bytes": LevelColumn(f"write_bytes less read_next_bytes; {_TENTHS}", "Wnew(GB)", _gib),
    "moved_bytes": LevelColumn(f"files that came here without being read; {_TENTHS}", "Moved(GB)", _gib),
    "write_amplification": LevelColumn("write_bytes over what came from above, as RocksDB has it", "W-Amp", _DIGITS[1]),
    "read_mb_per_s": LevelColumn("MiB of read_bytes per second of compaction", "Rd(MB/s)", _DIGITS[1]),
    "write_mb_per_s": LevelColumn("MiB of write_bytes per second of compaction", "Wr(MB/s)", _DIGITS[1]),
    "seconds": LevelColumn("wall time of the jobs together", "Comp(sec)", _DIGITS[2]),
    "cpu_seconds": LevelColumn("CPU time of the jobs together", "CompMergeCPU(sec)", _DIGITS[2]),
    "compactions": LevelColumn("flushes and compactions done", "Comp(cnt)", _DIGITS[0]),
    "average_seconds": LevelColumn("seconds over compactions", "Avg(sec)", _DIGITS[3]),
    "keys_in": LevelColumn("keys read, rounded as RocksDB prints it", "KeyIn", _count),
    "keys_dropped": LevelColumn("keys dropped, rounded likewise", "KeyDrop", _count),
    "blob_read_bytes": LevelColumn(f"blobs read; {_TENTHS}", "Rblob(GB)", _gib),
    "blob_write_bytes": LevelColumn(f"blobs written; {_TENTHS}", "Wblob(GB)", _gib),
}
HEADINGS: Mapping[str, LevelColumn] = {name: column for name, column in LEVELS.items() if column.heading}
LEVEL_STATES = ("files", "compacting_files", "bytes", "score")  # what is as it is; the others grow

# The table `sizes`: what an engine says of each table and index after a step.

OBJECT: Mapping[str, str] = {
    "schema_name": "schema or database that the table is in",
    "table_name": "name of the table; its partitions are one where the engine tells which table they are of",
    "index_name": "name of the index; NULL: the row is of the table",
    "family": "column family of the index, where the engine has such",
}
OBJECT_FIGURES: Mapping[str, str] = {
    "rows": "live rows, as the engine estimates them; of an index of MyRocks: keys put, in files",
    "bytes": "size: of a table with its indexes; of a secondary index of MyRocks its share of them by its keys",
    "dead_rows": "as the metric dead_rows (PostgreSQL)",
    "tombstones": "as the metric tombstones (MyRocks)",
    "bloat_bytes": "as the metric bloat_bytes (InnoDB, PostgreSQL)",
}

# All tables.

SCHEMA = 7
SEPARATOR = "\x1e"  # between the warnings of a row of `figures`

_STEP = {
    "schema": "INTEGER",
    "plan": "VARCHAR",
    "cell": "VARCHAR",
}
_STEP_REST = {
    "step": "VARCHAR",
    "kind": "VARCHAR",
    "measured": "BOOLEAN",
    "build": "VARCHAR",
    "build_id": "VARCHAR",
    "client_id": "VARCHAR",
    "load": "INTEGER",
    "run": "INTEGER",
    "stage": "VARCHAR",
    "position": "INTEGER",
    "attempt": "VARCHAR",
    "same_as": "VARCHAR",
    "status": "VARCHAR",
    "reason": "VARCHAR",
    "log": "VARCHAR",
    "started": "TIMESTAMP",
    "step_seconds": "DOUBLE",
    "warnings": "VARCHAR[]",
}
_POINT = {"stage": "VARCHAR", "attempt": "VARCHAR", "position": "INTEGER", "step": "VARCHAR"}

SERIES = {**_POINT, "second": "DOUBLE", "qps": "DOUBLE"}
RATES = {
    **_POINT,
    "client": "INTEGER",
    "second": "DOUBLE",
    "operation": "VARCHAR",
    **dict.fromkeys(("per_second", "longest_us"), "DOUBLE"),
}
LATENCIES = {**_POINT, "operation": "VARCHAR", "percentile": "DOUBLE", "microseconds": "DOUBLE"}
HISTORY = {
    **_POINT,
    **dict.fromkeys(("kind", "cell", "host"), "VARCHAR"),
    **dict.fromkeys(("load", "run"), "INTEGER"),
    "restored": "BOOLEAN",
    "qps": "DOUBLE",
}
SAMPLES = {**_POINT, "second": "DOUBLE"}  # and the figures of collect.samples
COUNTERS = {**_POINT, "source": "VARCHAR", "name": "VARCHAR", "grown": "DOUBLE"}
LEVEL = {**_POINT, **dict.fromkeys(("family", "level", "priority"), "VARCHAR"), **dict.fromkeys(LEVELS, "DOUBLE")}
HISTOGRAMS = {**_POINT, "operation": "VARCHAR", **dict.fromkeys(("least", "most", "operations"), "DOUBLE")}
SIZES = {**_POINT, **dict.fromkeys(OBJECT, "VARCHAR"), **dict.fromkeys(OBJECT_FIGURES, "DOUBLE")}
ENVIRONMENT = {"scope": "VARCHAR", "subject": "VARCHAR", "name": "VARCHAR", "value": "VARCHAR"}
METRICS = {
    "schema": "INTEGER",
    **dict.fromkeys(("name", "unit", "better", "definition", "measured_over"), "VARCHAR"),
}
PARTS = {  # what grows result by result; `attempts` is a part of `environment`
    "series": SERIES,
    "samples": SAMPLES,
    "rates": RATES,
    "latencies": LATENCIES,
    "histograms": HISTOGRAMS,
    "counters": COUNTERS,
    "levels": LEVEL,
    "sizes": SIZES,
    "attempts": ENVIRONMENT,
}
COLUMNS = dict.fromkeys(("table_name", "column_name", "type", "unit", "meaning"), "VARCHAR")


def steps(axes: Sequence[str], metrics: Iterable[str]) -> dict[str, str]:
    """Columns of `steps`: one for each axis and, behind the fixed ones, one for each metric."""
    labels = dict.fromkeys(axis_columns(axes).values(), "VARCHAR")
    return {**_STEP, **labels, **_STEP_REST, **dict.fromkeys(metrics, "DOUBLE")}


def figures(metrics: Iterable[str]) -> dict[str, str]:
    """Columns of a result's steps, whatever plan asks for it."""
    texts = dict.fromkeys(("folder", "started", "error", "warnings"), "VARCHAR")
    keys = {name: kind for name, kind in _POINT.items() if name != "step"}
    return {**keys, **texts, "step_seconds": "DOUBLE", **dict.fromkeys(metrics, "DOUBLE")}


def utc(text: object) -> str | None:
    """Write a time as a TIMESTAMP in UTC; None if it is no time."""
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC).replace(tzinfo=None).isoformat(" ")
    except ValueError:
        return None


def axis_columns(axes: Sequence[str]) -> Mapping[str, str]:
    """Map axes to columns. SQL does not tell upper from lower case: the second of two such axes gets a number."""
    columns: dict[str, str] = {}
    for axis in axes:
        column, number = f"axis_{axis}", 2
        names = {name.lower() for name in columns.values()}
        while column.lower() in names:
            column, number = f"axis_{axis}_{number}", number + 1
        columns[axis] = column
    return columns
