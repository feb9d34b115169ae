"""perf record: where the engine's time goes, as a flame graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.collectors import flame, stacks
from stepgrid.plugins.collector import Target, listed

FREQUENCY = 99  # not a round number: nothing that runs by the clock is always, or never, met
DATA, FOLDED, GRAPH = "perf.data", "stacks.txt", "flamegraph.svg"


class PerfRecord:
    tool = "perf"
    package = "linux-perf"
    settings: tuple[str, ...] = ("frequency", "call_graph")

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        rate, how = str(settings.get("frequency", FREQUENCY)), str(settings.get("call_graph", "fp"))
        words = ["-F", rate, "--call-graph", how, "--no-buildid-cache", "-o", str(target.folder / DATA)]
        return [tool, "record", *words, "-p", listed(target.pids)]

    def parse(self, folder: Path) -> Mapping[str, float]:
        return {}

    def counted(self, folder: Path, settings: Mapping[str, Any]) -> Mapping[str, float]:
        """Microseconds of CPU of each function itself, without those that it calls: a sample is one period."""
        path = folder / FOLDED
        if not path.is_file():  # an older one, or drawn by nobody
            return {}
        period = 1e6 / float(settings.get("frequency") or FREQUENCY)
        counts = stacks.innermost(path.read_text(encoding="utf-8"))
        return {name: count * period for name, count in counts.items()}

    def script(self, tool: str, folder: Path) -> Sequence[str]:
        """Inlined functions are left out: to find them takes minutes in a large binary."""
        return [tool, "script", "-i", str(folder / DATA), "--no-inline", "-F", "comm,pid,tid,time,event,ip,sym,dso"]

    def draw(self, output: Path, folder: Path) -> None:
        with output.open(encoding="utf-8", errors="replace") as lines:
            counts = stacks.folded(lines)
        (folder / FOLDED).write_text(stacks.text(counts), encoding="utf-8")
        (folder / GRAPH).write_text(flame.graph(counts, folder.name), encoding="utf-8")


COLLECTOR = PerfRecord()
