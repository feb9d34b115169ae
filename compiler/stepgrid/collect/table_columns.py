"""The table `columns`: what each column of the other tables is, for a reader who has nothing but the files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stepgrid.collect.parquet import Row
from stepgrid.model.metrics import Metric
from stepgrid.model.result_schema import LEVEL_KEYS, LEVELS, OBJECT, OBJECT_FIGURES
from stepgrid.plugins.metrics import METRICS

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
        "source": "engine, the probe around which it was counted, or perf_record: microseconds of CPU by function",
        "name": "as the engine calls it; .count, .sum, .max, .p50 …: of a histogram of its own",
        "grown": "by how much it grew: over the probe or the step; of an engine within its client since it was opened",
    },
    "levels": {**_KEY, **LEVEL_KEYS, **{name: column.meaning for name, column in LEVELS.items()}},
    "sizes": {**_KEY, **OBJECT, **OBJECT_FIGURES},
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
        "scope": "plan, hardware, build, default (of an option), requested, host, image, facts or command (of a step)",
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


def column_rows(tables: Mapping[str, Mapping[str, str]], metrics: Mapping[str, Metric] = METRICS) -> Iterator[Row]:
    """A row per column of each table (name -> column -> type)."""
    for table, types in tables.items():
        for column, kind in types.items():
            yield {"table_name": table, "column_name": column, "type": kind, **_meaning(table, column, metrics)}


def _meaning(table: str, column: str, metrics: Mapping[str, Metric]) -> Row:
    if (meaning := MEANING[table].get(column)) is not None:
        return {"meaning": meaning}
    if (metric := metrics.get(column)) is not None:
        return {"unit": metric.unit, "meaning": metric.definition}
    axis = column.removeprefix("axis_")
    return {
        "meaning": f"label of the point of the axis {axis}; NULL: it does not change this step"
        if axis != column
        else None
    }
