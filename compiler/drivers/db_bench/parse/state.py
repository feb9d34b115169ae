"""What the engine says of its work and its state, in whatever part of an output holds its last statistics."""

from __future__ import annotations

from compiler.drivers.db_bench.parse import cache, compaction, memory, stalls, statistics, totals


def figures(text: str) -> dict[str, float]:
    parts = (compaction.figures, totals.figures, stalls.figures, cache.figures, memory.figures)
    return {name: value for part in parts for name, value in part(text).items()}


def counters(text: str) -> dict[str, float]:
    return {**memory.counters(text), **statistics.counters(text)}
