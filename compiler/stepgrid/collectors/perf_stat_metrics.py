"""Metrics that collectors beside a step count."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric
from stepgrid.model.metrics.windows import STEP

_COUNTED = "as the collector perf_stat counted it for the step's engine, while it was attached"
_USER = f"in user mode (all that an ordinary user may count at kernel.perf_event_paranoid = 2), {_COUNTED}"
COLLECTED = (
    Metric("perf_instructions", "instructions", None, f"Instructions, {_COUNTED}.", STEP),
    Metric("perf_cycles", "cycles", None, f"Cycles, {_COUNTED}.", STEP),
    Metric("perf_instructions_per_cycle", "ratio", "higher", "perf_instructions / perf_cycles.", STEP),
    Metric("perf_branches", "branches", None, f"Branches, {_COUNTED}.", STEP),
    Metric("perf_branch_misses", "branches", "lower", f"Mispredicted branches, {_COUNTED}.", STEP),
    Metric("perf_cache_references", "accesses", None, f"Accesses to the last cache, {_COUNTED}.", STEP),
    Metric("perf_cache_misses", "accesses", "lower", f"Those that it did not have, {_COUNTED}.", STEP),
    Metric("perf_task_clock_ms", "ms", None, f"CPU time, {_COUNTED}.", STEP),
    Metric("perf_context_switches", "switches", None, f"Context switches, {_COUNTED}.", STEP),
    Metric("perf_cpu_migrations", "moves", None, f"Moves from one core to another, {_COUNTED}.", STEP),
    Metric("perf_page_faults", "faults", None, f"Page faults, {_COUNTED}.", STEP),
    Metric("perf_user_instructions", "instructions", None, f"Instructions {_USER}.", STEP),
    Metric("perf_user_cycles", "cycles", None, f"Cycles {_USER}.", STEP),
    Metric("perf_user_instructions_per_cycle", "ratio", "higher", "perf_user_instructions / perf_user_cycles.", STEP),
    Metric("perf_user_branches", "branches", None, f"Branches {_USER}.", STEP),
    Metric("perf_user_branch_misses", "branches", "lower", f"Mispredicted branches {_USER}.", STEP),
    Metric("perf_user_cache_references", "accesses", None, f"Accesses to the last cache {_USER}.", STEP),
    Metric("perf_user_cache_misses", "accesses", "lower", f"Misses of the last cache {_USER}.", STEP),
    Metric("perf_user_page_faults", "faults", None, f"Page faults {_USER}.", STEP),
)
