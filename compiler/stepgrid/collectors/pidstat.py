"""pidstat: processor, memory, IO and switches of the engine's processes, every second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.plugins.collector import Target, interval, pid_list


class Pidstat:
    tool = "pidstat"
    package = "sysstat"
    settings: tuple[str, ...] = ("every",)

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        return [tool, "-h", "-H", "-u", "-r", "-d", "-w", "-p", pid_list(target.pids), interval(settings)]

    def parse(self, folder: Path) -> Mapping[str, float]:
        return {}


COLLECTOR = Pidstat()
