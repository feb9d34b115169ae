"""Columns of the tables of results (steps.parquet …): their types and meanings. SCHEMA is raised when one changes."""

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

QUERY_PLANS, PAST_NOISE = "query plan", "past noise"  # scopes of `environment`

SCHEMA = 8
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
EVENTS = {
    **_POINT,
    **dict.fromkeys(("second", "seconds"), "DOUBLE"),
    **dict.fromkeys(("kind", "name", "source"), "VARCHAR"),
}
SIZES = {**_POINT, **dict.fromkeys(OBJECT, "VARCHAR"), **dict.fromkeys(OBJECT_FIGURES, "DOUBLE")}
ENVIRONMENT = {"scope": "VARCHAR", "subject": "VARCHAR", "name": "VARCHAR", "value": "VARCHAR"}
METRICS = {
    "schema": "INTEGER",
    **dict.fromkeys(("name", "unit", "better", "definition", "measured_over"), "VARCHAR"),
}
GROWING = {  # result by result
    "series": SERIES,
    "samples": SAMPLES,
    "rates": RATES,
    "latencies": LATENCIES,
    "histograms": HISTOGRAMS,
    "counters": COUNTERS,
    "levels": LEVEL,
    "sizes": SIZES,
    "events": EVENTS,
}
COLUMNS = dict.fromkeys(("table_name", "column_name", "type", "unit", "meaning"), "VARCHAR")


def steps(axes: Sequence[str], metrics: Iterable[str]) -> dict[str, str]:
    """Columns of `steps`: one for each axis and, behind the fixed ones, one for each metric."""
    labels = dict.fromkeys(axis_columns(axes).values(), "VARCHAR")
    return {**_STEP, **labels, **_STEP_REST, **dict.fromkeys(metrics, "DOUBLE")}


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


# What each column is, for a reader who has nothing but the files: the table `columns`.

_KEY = {
    "stage": "id of the stage: its steps ran one after the other on one database",
    "attempt": "the result that the figures are of, by its time (UTC); NULL: there is none",
    "position": "of the step in its stage, from 0",
    "step": "name of the step in the spec",
}
_SECOND = "since the step's start, at the end of the interval"

MEANING: Mapping[str, Mapping[str, str]] = {
    "steps": {
        **_KEY,
        "schema": "version of these tables; raised when a column changes its meaning",
        "plan": "digest of the plan",
        "cell": "id of the combination of the axes' points",
        "kind": "the driver that ran the step",
        "measured": "whether the step is part of the report",
        "build": "label of the build",
        "build_id": "id of the binary: equal for two labels of one binary",
        "client_id": "id of the client's binary, where that is a build of its own",
        "load": "number of the load, from 1: the unit of replication",
        "run": "number of the run on that load, from 1",
        "same_as": "the cell that this very measurement was counted for already; NULL where it counts",
        "status": "done, unsupported, failed or missing",
        "reason": "why it is not done",
        "log": "where to look",
        "started": "when the step started (UTC)",
        "step_seconds": "wall time of the step's process",
        "warnings": "what the engine printed about itself",
    },
    "series": {**_KEY, "second": _SECOND, "qps": "operations in that interval per second, as the client counts"},
    "samples": {**_KEY, "second": _SECOND},
    "rates": {
        **_KEY,
        "client": "number of the client, from 0; of steps whose clients report one by one",
        "second": _SECOND,
        "operation": "insert, delete, query …, of what the client does; NULL: all operations",
        "per_second": "rows that it inserted or deleted, or queries, in that interval per second",
        "longest_us": "the longest of these statements, in microseconds; NULL: not known, or none ended",
    },
    "latencies": {
        **_KEY,
        "operation": "read, write, … in a benchmark of several kinds; NULL: all operations",
        "percentile": "50, 99.9 …",
        "microseconds": "the latency that so many percent of the operations do not exceed",
    },
    "histograms": {
        **_KEY,
        "operation": "likewise",
        "least": "microseconds: the operations counted here took longer",
        "most": "microseconds: they took no longer",
        "operations": "how many there were; in a benchmark of batches, how many batches",
    },
    "counters": {
        **_KEY,
        "source": "engine, the probe around which it was counted, or perf_record: microseconds of CPU by function; "
        "profile: the same per operation, of a stage that ran again for it; events: its events per operation; "
        "off_cpu: microseconds of its threads per operation, by what they did",
        "name": "as the engine calls it; .count, .sum, .max, .p50 …: of a histogram of its own",
        "grown": "by how much it grew: over the probe or the step; of an engine within its client since it was opened",
    },
    "levels": {**_KEY, **LEVEL_KEYS, **{name: column.meaning for name, column in LEVELS.items()}},
    "sizes": {**_KEY, **OBJECT, **OBJECT_FIGURES},
    "events": {
        **_KEY,
        "second": "since the step's start, when it began",
        "seconds": "that it took; 0: a moment",
        "kind": "flush, compaction, write stop, checkpoint, autovacuum …",
        "name": "its cause, or the table that it was of",
        "source": "log: of the engine; sampled: a state that a collector met, as exact as its interval",
    },
    "history": {
        **_KEY,
        "kind": "the driver that ran the step",
        "cell": "equal for the loads and runs of one cell",
        "host": "name of the host; NULL: not recorded",
        "load": "number of the load, from 1",
        "run": "number of the run on that load, from 1",
        "restored": "whether the stage began with the database of an earlier one",
        "qps": "as in `steps`",
    },
    "environment": {
        "scope": "plan, hardware, build, default (of an option), requested, host, image, past noise, or "
        "of a step: facts, query plan, command",
        "subject": "digest of the plan, id of the build, stage/attempt, or stage/attempt/position",
        "name": "of the fact",
        "value": "text as it is, anything else as JSON",
    },
    "metrics": {
        "schema": "version of these tables",
        "name": "the column of `steps`, and of `samples` where it is a rate",
        "unit": "B, KiB and MiB are powers of 1024",
        "better": "higher or lower; NULL: depends on what is asked",
        "definition": "what it is",
        "measured_over": "the time that the figure is of",
    },
}
