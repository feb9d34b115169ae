"""iostat: every device of the host, every second, as the tool itself prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.metrics.metric import MetricSet
from stepgrid.plugins.collector import Target, interval

COLUMNS = {
    "device_reads_per_s": "r/s",
    "device_read_mb_per_s": "rMB/s",
    "device_read_await_ms": "r_await",
    "device_read_request_kb": "rareq-sz",
    "device_writes_per_s": "w/s",
    "device_write_mb_per_s": "wMB/s",
    "device_write_await_ms": "w_await",
    "device_write_request_kb": "wareq-sz",
}


class Iostat:
    tool = "iostat"
    package = "sysstat"
    settings: tuple[str, ...] = ("every",)

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        return [tool, "-t", "-x", "-y", "-m", interval(settings)]

    def parse(self, folder: Path) -> Mapping[str, float]:
        return {}

    def metrics(self) -> MetricSet:
        return MetricSet(published={"iostat": COLUMNS})


COLLECTOR = Iostat()
