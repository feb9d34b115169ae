"""The columns of the tables, in one place; SCHEMA is raised when their meaning changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

# The columns of the table `levels`: what an engine says of each level of its tree, over the time that it was open.

GB = "printed in tenths of a GiB"
ABOUT: Mapping[str, str] = {
    "family": "column family, where the engine has such",
    "level": "L0, L1 …; Sum: of all of them; Int: of them since the statistics before these; NULL: of a priority",
    "priority": "of the threads that did the work: Low (compactions), High (flushes) …; NULL: of a level",
}

LEVELS: Mapping[str, str] = {
    "files": "live files",
    "compacting_files": "those of them that are being compacted",
    "bytes": "size of the live files",
    "score": "how full the level is: from 1 on it is compacted",
    "read_bytes": f"what compactions into this level read; {GB}",
    "read_own_bytes": f"that part of it that was read from the level above; {GB}",
    "read_next_bytes": f"that part of it that was read from this level; {GB}",
    "write_bytes": f"what flushes and compactions wrote into this level; {GB}",
    "write_uncompressed_bytes": f"the same before compression (from RocksDB 10.3); {GB}",
    "write_new_bytes": f"write_bytes less read_next_bytes; {GB}",
    "moved_bytes": f"files that came here without being read; {GB}",
    "write_amplification": "write_bytes over what came from above, as RocksDB has it",
    "read_mb_per_s": "MiB of read_bytes per second of compaction",
    "write_mb_per_s": "MiB of write_bytes per second of compaction",
    "seconds": "wall time of the jobs together",
    "cpu_seconds": "CPU time of the jobs together",
    "compactions": "flushes and compactions done",
    "average_seconds": "seconds over compactions",
    "keys_in": "keys read, rounded as RocksDB prints it",
    "keys_dropped": "keys dropped, rounded likewise",
    "blob_read_bytes": f"blobs read; {GB}",
    "blob_write_bytes": f"blobs written; {GB}",
}
LEVEL_STATES = ("files", "compacting_files", "bytes", "score")  # what is as it is; the rest grows


# The columns of the table `sizes`: what an engine says of each table and index after a step.

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
    """A column per axis and, behind the fixed ones, a column per metric."""
    labels = dict.fromkeys(axis_columns(axes).values(), "VARCHAR")
    return {**_STEP, **labels, **_STEP_REST, **dict.fromkeys(metrics, "DOUBLE")}


def figures(metrics: Iterable[str]) -> dict[str, str]:
    """What is known of the steps of a result, whatever plan asks for it."""
    texts = dict.fromkeys(("folder", "started", "error", "warnings"), "VARCHAR")
    where = {name: kind for name, kind in _POINT.items() if name != "step"}
    return {**where, **texts, "step_seconds": "DOUBLE", **dict.fromkeys(metrics, "DOUBLE")}


def utc(text: object) -> str | None:
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC).replace(tzinfo=None).isoformat(" ")
    except ValueError:
        return None


def axis_columns(axes: Sequence[str]) -> Mapping[str, str]:
    """Axis -> column. SQL does not tell upper from lower case: the second of two such axes gets a number."""
    columns: dict[str, str] = {}
    for axis in axes:
        column = f"axis_{axis}"
        taken = {other.lower() for other in columns.values()}
        number = 2
        while column.lower() in taken:
            column, number = f"axis_{axis}_{number}", number + 1
        columns[axis] = column
    return columns
