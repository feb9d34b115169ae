"""Clean figures of a step: of its log where there is one, else what the published row holds of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from stepgrid.model.figures import Figures, ParseError
from stepgrid_databases.drivers.db_bench.benchmarks import has_background_writer
from stepgrid_databases.drivers.db_bench.command import read_report
from stepgrid_databases.drivers.db_bench.engine_statistics import compaction_levels, engine_counters, engine_figures
from stepgrid_databases.drivers.db_bench.output import (
    command_threads,
    correct_client_time,
    find_result,
    header_facts,
    histogram_buckets,
    histogram_figures,
    histograms_after,
    perf_counters,
    printed_release,
    printed_warnings,
    result_figures,
    writer_note,
)
from stepgrid_importers.db_bench.logs import Log
from stepgrid_importers.db_bench.reports import METRICS, NONE, SHIFTED, Row, glued, shifted
from stepgrid_importers.shared.awk import field, number

KIB = 1024
_ROUNDED = "figures of a published row: rounded as it prints them"


def of_row(row: Row) -> Figures:
    columns = {**METRICS, **(SHIFTED if shifted(row) else {}), **({"pmax": None} if glued(row) else {})}
    pairs = ((name, held) for name, held in columns.items() if held)
    found = {metric: value * unit for name, (metric, unit) in pairs if (value := _value(row.cells[name])) is not None}
    return Figures(found | _cpu(row), {**_about(row), "precision": _ROUNDED})


def of_log(log: Log) -> Figures:
    """ParseError where it has no result."""
    release = printed_release(header_facts(log.text, ""))
    found = correct_client_time(find_result(log.text, log.benchmark), release, command_threads(log.text))
    latencies = histograms_after(log.text, found.end)
    metrics = {
        **result_figures(found, latencies),
        **histogram_figures(latencies),
        **engine_figures(log.text),
    }
    return Figures(
        metrics=metrics | _used(log, metrics),
        facts=_facts(log),
        qps=read_report(log.series) if log.series else [],
        warnings=printed_warnings(log.text),
        counters={**engine_counters(log.text), **perf_counters(log.text[found.start :])},
        levels=compaction_levels(log.text),
        histograms=histogram_buckets(latencies),
    )


def series_fault(path: Path) -> tuple[int | None, str] | None:
    """What is wrong with the file of the rates over time, and in which line."""
    try:
        read_report(path)
    except (ParseError, UnicodeDecodeError) as error:
        found = re.fullmatch(r"(?::(\d+))?: (.*)", str(error).removeprefix(str(path)), re.DOTALL)
        return (int(found[1]) if found[1] else None, found[2]) if found else (None, str(error))
    return None


def _facts(log: Log) -> dict[str, str]:
    facts = header_facts(log.text, "")
    if log.commit:
        facts["commit"] = log.commit
    if has_background_writer(log.benchmark):
        facts["qps_over_time"] = writer_note(facts, None)
    return facts


def _used(log: Log, metrics: Mapping[str, float]) -> dict[str, float]:
    found = {"process_rss_bytes": max(log.resident.values()) * KIB} if log.resident else {}
    user, system = field(log.seconds, 2), field(log.seconds, 3)
    if user and system:
        found["cpu_seconds"] = number(user) + number(system)
        if operations := metrics.get("operations"):
            found["cpu_us_per_op"] = found["cpu_seconds"] * 1e6 / operations
    return found


def _cpu(row: Row) -> dict[str, float]:
    """Thousands of seconds with one decimal: a 0.0 says nothing."""
    parts = [_value(row.cells[name]) for name in ("u_cpu", "s_cpu")]
    known = [part for part in parts if part is not None]
    seconds = sum(known, 0.0) * 1000 if len(known) == len(parts) else 0.0
    return {"cpu_seconds": seconds} if seconds else {}


def _about(row: Row) -> dict[str, str]:
    named = {"version": "version", "commit": "githash", "job": "job_id", "began": "date"}
    return {fact: row.cells[column] for fact, column in named.items() if row.cells[column]}


def _value(cell: str) -> float | None:
    """`88GB` is 88: whatever is smaller is printed in another unit, and then it is no figure of ours."""
    try:
        return None if cell == NONE else float(cell.removesuffix("GB"))
    except ValueError:
        return None
