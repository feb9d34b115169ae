"""Steps of kind linkbench: a social graph in three tables, loaded and then asked by a mix of ten operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepgrid.plugins.driver import Driver, PackageDriver

LOAD_RATE = 2_000  # nodes with their links, per second of one client: only for estimates
FLOOR = 1.0


class LinkBench(PackageDriver):
    kind = "linkbench"
    revision = 1
    tables = ("relative", "percentiles", "per_operation")

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["action"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        if settings["action"] == "request":
            return float(settings["duration"])
        return max(FLOOR, float(settings["ids"] / LOAD_RATE / settings["loaders"]))


DRIVER: Driver = LinkBench()
