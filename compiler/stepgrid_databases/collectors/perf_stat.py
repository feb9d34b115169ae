"""perf stat: what processor and kernel count for the engine's processes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stepgrid.host import sysfs
from stepgrid.model.metrics import STEP, Metric, MetricSet
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


class PerfStat:
    tool = "perf"
    package = "linux-perf"
    settings: tuple[str, ...] = ("events",)

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        events = ",".join(settings.get("events") or METRICS)
        return [tool, "stat", "-j", "-o", str(target.folder / FILE), "-e", events, "-p", pid_list(target.pids)]

    def attached(self, pid: int) -> bool:
        return is_attached(pid)

    def parse(self, folder: Path) -> Mapping[str, float]:
        """Read the events without another modifier (cycles:k); one that was never counted has no value."""
        values = read_events(folder / FILE)
        figures = {name: values[event] for event, name in {**METRICS, **USER}.items() if event in values}
        for mode in ("perf_", "perf_user_"):
            instructions, cycles = figures.get(f"{mode}instructions"), figures.get(f"{mode}cycles")
            if instructions is not None and cycles:
                figures[f"{mode}instructions_per_cycle"] = instructions / cycles
        return figures

    def metrics(self) -> MetricSet:
        return MetricSet({"Collectors": _DEFINITIONS})


def read_events(path: Path) -> dict[str, float]:
    """Read the counts of perf stat by event; of one that this processor does not count there is none."""
    values: dict[str, float] = {}
    with suppress(OSError):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                record = json.loads(line)
                values[str(record["event"])] = float(record["counter-value"])
    return values


def is_attached(pid: int) -> bool:
    """Check that a perf has opened its events, of which each takes a while, and sleeps until there is data."""
    state = (sysfs.text(f"proc/{pid}/stat") or "").rpartition(") ")[2][:1]
    links = []
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                links.append(str(descriptor.readlink()))
    return state == "S" and "anon_inode:[perf_event]" in links


_COUNTED = "as the collector perf_stat counted it for the step's engine, while it was attached"
_USER = f"in user mode (all that an ordinary user may count at kernel.perf_event_paranoid = 2), {_COUNTED}"
_DEFINITIONS = (
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

COLLECTOR = PerfStat()
