"""perf record: where the engine's time goes, as a flame graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.collectors import differential_flame, flame, perf_process, stacks
from stepgrid.collectors.stacks import Stack
from stepgrid.plugins.collector import Recording, Target, pid_list

FREQUENCY = 99  # not a round number: nothing that runs by the clock is always, or never, met
DATA, FOLDED, GRAPH = "perf.data", "stacks.txt", "flamegraph.svg"
NONE = "perf took no sample: the step was too short, or waited all the time"


class PerfRecord:
    tool = "perf"
    package = "linux-perf"
    settings: tuple[str, ...] = ("frequency", "call_graph")

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        rate, how = str(settings.get("frequency", FREQUENCY)), str(settings.get("call_graph", "fp"))
        words = ["-F", rate, "--call-graph", how, "--no-buildid-cache", "-o", str(target.folder / DATA)]
        return [tool, "record", *words, "-p", pid_list(target.pids)]

    def attached(self, pid: int) -> bool:
        return perf_process.attached(pid)

    def parse(self, folder: Path) -> Mapping[str, float]:
        return {}

    def counted(self, folder: Path, settings: Mapping[str, Any]) -> Mapping[str, float]:
        """Microseconds of CPU of each function itself, without those that it calls."""
        found: dict[str, float] = {}
        for stack, microseconds in _microseconds(folder, settings).items():
            found[stack[-1]] = found.get(stack[-1], 0.0) + microseconds
        return found

    def compared(self, arm: Sequence[Recording], base: Sequence[Recording], title: str) -> str:
        return differential_flame.graph(_per_operation(arm), _per_operation(base), title)

    def script(self, tool: str, folder: Path) -> Sequence[str]:
        """Inlined functions are left out: to find them takes minutes in a large binary."""
        return [tool, "script", "-i", str(folder / DATA), "--no-inline", "-F", "comm,pid,tid,time,event,ip,sym,dso"]

    def draw(self, output: Path, folder: Path) -> str | None:
        with output.open(encoding="utf-8", errors="replace") as lines:
            counts = stacks.folded(lines)
        if not counts:
            return NONE
        (folder / FOLDED).write_text(stacks.text(counts), encoding="utf-8")
        (folder / GRAPH).write_text(flame.graph(counts, folder.name), encoding="utf-8")
        return None


def _microseconds(folder: Path, settings: Mapping[str, Any]) -> Mapping[Stack, float]:
    """A sample is one period. Nothing of a recording that nobody drew."""
    path = folder / FOLDED
    if not path.is_file():
        return {}
    period = 1e6 / float(settings.get("frequency") or FREQUENCY)
    counts = stacks.parsed(path.read_text(encoding="utf-8"))
    return {stack: count * period for stack, count in counts.items()}


def _per_operation(recordings: Sequence[Recording]) -> Mapping[Stack, float]:
    """Of several loads their mean."""
    found: dict[Stack, float] = {}
    for each in recordings:
        for stack, microseconds in _microseconds(each.folder, each.settings).items():
            found[stack] = found.get(stack, 0.0) + microseconds / each.operations / len(recordings)
    return found


COLLECTOR = PerfRecord()
