"""Tools that look on every second, and whose output is kept as they print it: vmstat, iostat, pidstat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from stepgrid.model.metrics import MetricSet
from stepgrid.model.records import Json
from stepgrid.plugins.collector import Target, interval, pid_list


class HostTool(Struct, frozen=True):
    tool: str
    package: str
    options: tuple[str, ...]
    of_processes: bool = False  # it is told which; else it looks at the whole host
    columns: Mapping[str, str] = {}  # metric of ours -> the tool's own column
    settings: tuple[str, ...] = ("every",)

    def argv(self, tool: str, settings: Mapping[str, Json], target: Target) -> Sequence[str]:
        processes = ["-p", pid_list(target.pids)] if self.of_processes else []
        return [tool, *self.options, *processes, interval(settings)]

    def parse(self, folder: Path) -> Mapping[str, float]:
        return {}

    def metrics(self) -> MetricSet:
        return MetricSet(published={self.tool: self.columns} if self.columns else {})


VMSTAT = HostTool(
    "vmstat",
    "procps",
    ("-n", "-t", "-w"),
    columns={
        "context_switches_per_s": "cs",
        "host_cpu_user_pct": "us",
        "host_cpu_system_pct": "sy",
        "host_cpu_idle_pct": "id",
        "host_cpu_iowait_pct": "wa",
    },
)
IOSTAT = HostTool(
    "iostat",
    "sysstat",
    ("-t", "-x", "-y", "-m"),
    columns={
        "device_reads_per_s": "r/s",
        "device_read_mb_per_s": "rMB/s",
        "device_read_await_ms": "r_await",
        "device_read_request_kb": "rareq-sz",
        "device_writes_per_s": "w/s",
        "device_write_mb_per_s": "wMB/s",
        "device_write_await_ms": "w_await",
        "device_write_request_kb": "wareq-sz",
    },
)
PIDSTAT = HostTool("pidstat", "sysstat", ("-h", "-H", "-u", "-r", "-d", "-w"), of_processes=True)
