"""perf stat: what processor and kernel count for the engine's processes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stepgrid.collectors import perf_process
from stepgrid.model.metrics.metric import STEP, Metric, MetricSet
from stepgrid.plugins.collector import Target, pid_list

FILE = "perf.json"
METRICS = {  # event -> metric
    "task-clock": "perf_task_clock_ms",
    "context-switches": "perf_context_switches",
    "cpu-migrations": "perf_cpu_migrations",
    "page-faults": "perf_page_faults",
    "instructions": "perf_instructions",
    "cycles": "perf_cycles",
    "branches": "perf_branches",
    "branch-misses": "perf_branch_misses",
    "cache-references": "perf_cache_references",
    "cache-misses": "perf_cache_misses",
}
# perf adds :u for a user who may not look into the kernel (kernel.perf_event_paranoid of 2 and more). The clock is the
# same; context switches and migrations are missing, since the kernel counts none in user mode and says 0.
USER = {
    "task-clock:u": "perf_task_clock_ms",
    "page-faults:u": "perf_user_page_faults",
    "instructions:u": "perf_user_instructions",
    "cycles:u": "perf_user_cycles",
    "branches:u": "perf_user_branches",
    "branch-misses:u": "perf_user_branch_misses",
    "cache-references:u": "perf_user_cache_references",
    "cache-misses:u": "perf_user_cache_misses",
}
NAMES = METRICS | USER


class PerfStat:
    tool = "perf"
    package = "linux-perf"
    settings: tuple[str, ...] = ("events",)

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        events = ",".join(settings.get("events") or METRICS)
        return [tool, "stat", "-j", "-o", str(target.folder / FILE), "-e", events, "-p", pid_list(target.pids)]

    def attached(self, pid: int) -> bool:
        return perf_process.attached(pid)

    def parse(self, folder: Path) -> Mapping[str, float]:
        counted = dict(_counted(folder / FILE))
        found = {NAMES[event]: value for event, value in counted.items() if event in NAMES}
        return found | dict(_per_cycle(found, "perf_")) | dict(_per_cycle(found, "perf_user_"))

    def metrics(self) -> MetricSet:
        return MetricSet({"Collectors": COLLECTED})


def _per_cycle(found: Mapping[str, float], mode: str) -> Iterator[tuple[str, float]]:
    instructions, cycles = found.get(f"{mode}instructions"), found.get(f"{mode}cycles")
    if instructions is not None and cycles:
        yield f"{mode}instructions_per_cycle", instructions / cycles


def _counted(path: Path) -> Iterator[tuple[str, float]]:
    """An event with a modifier (cycles:k) is another one; one that was never counted has no value."""
    with suppress(OSError):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                said = json.loads(line)
                yield str(said["event"]), float(said["counter-value"])


COLLECTOR = PerfStat()


# Metrics that collectors beside a step count.

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
