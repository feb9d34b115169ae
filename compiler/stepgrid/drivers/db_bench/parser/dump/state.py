"""What the engine says of its work and its state, in whatever part of an output holds its last statistics."""

from __future__ import annotations

from stepgrid.drivers.db_bench.parser import statistics
from stepgrid.drivers.db_bench.parser.dump import compaction, memory, stalls, totals


def figures(text: str) -> dict[str, float]:
    return {
        **compaction.figures(text),
        **totals.figures(text),
        **stalls.figures(text),
        **statistics.block_cache(text),
        **memory.figures(text),
    }


def counters(text: str) -> dict[str, float]:
    return {**memory.counters(text), **statistics.counters(text)}
