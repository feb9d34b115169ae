"""vmstat: tasks, memory, swap, IO and processors of the host, every second, as the tool itself prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.metrics.metric import MetricSet
from stepgrid.plugins.collector import Target, interval

COLUMNS = {
    "context_switches_per_s": "cs",
    "host_cpu_user_pct": "us",
    "host_cpu_system_pct": "sy",
    "host_cpu_idle_pct": "id",
    "host_cpu_iowait_pct": "wa",
}


class Vmstat:
    tool = "vmstat"
    package = "procps"
    settings: tuple[str, ...] = ("every",)

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        return [tool, "-n", "-t", "-w", interval(settings)]

    def parse(self, folder: Path) -> Mapping[str, float]:
        return {}

    def metrics(self) -> MetricSet:
        return MetricSet(published={"vmstat": COLUMNS})


COLLECTOR = Vmstat()
