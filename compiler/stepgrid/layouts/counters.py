"""Counters of the processor or of the engine: a row for each, a column for each arm; absolute, and to the first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase

from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import Block, Layout, LayoutCell, cell, legend

PERF = (
    "perf_instructions", "perf_cycles", "perf_instructions_per_cycle", "perf_branches", "perf_branch_misses",
    "perf_cache_references", "perf_cache_misses", "perf_context_switches", "perf_cpu_migrations", "perf_page_faults",
    "perf_user_instructions", "perf_user_cycles", "perf_user_instructions_per_cycle", "perf_user_branches",
    "perf_user_branch_misses", "perf_user_cache_references", "perf_user_cache_misses", "perf_user_page_faults",
)  # fmt: skip


def tables(block: Block) -> list[Table]:
    subjects = block.subjects()
    wanted = block.metrics or (() if block.counters else PERF)
    names = [name for name in wanted if any(name in spot.values for _, spot in subjects)] + _counted(block)
    if not names:
        return []
    heads, before = legend([name for name, _ in subjects])
    absolute = ((Cell(block.call(name)), *(_absolute(spot, name) for _, spot in subjects)) for name in names)
    found = [block.table(columns(heads, ["name"], last=False), absolute, before=before)]
    (_, least), *others = subjects
    shared = [name for name in names if name in least.values and any(name in spot.values for _, spot in others)]
    return [*found, _relative(block, subjects, shared)] if shared and not least.status else found


def _counted(block: Block) -> list[str]:
    """Those that are named and those of a pattern that grew anywhere, most first."""
    most: dict[str, float] = {}
    for name, value in (pair for spot in block.spots.values() for pair in spot.values.items()):
        if any(fnmatchcase(name, pattern) for pattern in block.counters):
            most[name] = max(most.get(name, value), value)
    names = sorted((name for name, value in most.items() if value or name in block.counters), key=lambda n: -most[n])
    return names[: block.top]


def _relative(block: Block, subjects: Sequence[tuple[str, LayoutCell]], names: Sequence[str]) -> Table:
    (base, least), *others = subjects
    rows = ((*(_ratio(spot, least, name) for _, spot in others), Cell(block.call(name))) for name in names)
    heads, before = legend([name for name, _ in others])
    return block.table(columns(heads, ["name"]), rows, before=(f"relative to {base}", *before), notes=())


def _absolute(spot: LayoutCell, name: str) -> Cell:
    value = spot.values.get(name)
    return cell(spot, None if value is None else f"{value:.0f}" if value >= 100 or value % 1 == 0 else f"{value:.3f}")


def _ratio(spot: LayoutCell, base: LayoutCell, name: str) -> Cell:
    value = spot.values.get(name)
    return cell(spot, None if value is None else relative(value, base.values[name]))


def relative(value: float, base: float) -> str:
    """INF above nothing; of a counter that both lack (-1) it is 1.000, as of two that counted nothing."""
    if value == base:
        return "1.000"
    return "INF" if base == 0 else f"{value / base:.3f}" if math.isfinite(value) else "INF"


LAYOUT = Layout("counters", tables, metrics=PERF, own_metrics=True)
