"""Metrics of writes that had to wait."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric
from stepgrid.model.metrics.windows import OPENED


def _stall(name: str, what: str) -> Metric:
    return Metric(f"stall_{name}", "count", "lower", what, OPENED)


STALLS = (
    Metric(
        "stall_pct",
        "%",
        "lower",
        "Time in which writes were delayed or stopped, of the uptime; of a step that awaits a drain behind its "
        "benchmark, of the benchmark's time.",
        OPENED,
    ),
    Metric(
        "stall_pct_published",
        "%",
        "lower",
        "The same of such a step as published summaries have it: of the uptime, and so of the drain too. For "
        "comparison with those, and nothing else.",
        OPENED,
    ),
    Metric("stall_seconds", "s", "lower", "Time in which writes were delayed or stopped.", OPENED),
    Metric("stalls", "count", "lower", "stall_delays + stall_stops.", OPENED),
    _stall("delays", "Delays of every cause: level 0, memtables, compaction debt."),
    _stall("stops", "Stops of every cause: level 0, memtables, compaction debt."),
    _stall("l0_delays", "Delays because of many level 0 files (before 8.1: level0_slowdown)."),
    _stall("l0_stops", "Stops because of too many level 0 files (before 8.1: level0_numfiles)."),
    _stall("l0_compacting_delays", "Those of stall_l0_delays that met a compaction of level 0 at work."),
    _stall("l0_compacting_stops", "Those of stall_l0_stops that met a compaction of level 0 at work."),
    _stall("memtable_delays", "Delays because of many memtables (before 8.1: memtable_slowdown)."),
    _stall("memtable_stops", "Stops because of too many memtables (before 8.1: memtable_compaction)."),
    _stall("pending_delays", "Delays because of compaction debt."),
    _stall("pending_stops", "Stops because of compaction debt."),
    _stall("write_buffer_manager_stops", "Stops by the write buffer manager, of the whole database (from 8.1)."),
)
