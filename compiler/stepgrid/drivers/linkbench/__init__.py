"""Steps of kind linkbench: a social graph in three tables, loaded and then asked by a mix of ten operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepgrid.plugins.driver import Driver

if TYPE_CHECKING:
    from pydantic import BaseModel

LOAD_RATE = 2_000  # nodes with their links, per second of one client: only for estimates
FLOOR = 1.0


class LinkBench:
    kind = "linkbench"
    revision = 1
    tables = ("relative", "percentiles", "per_operation")
    reserved: Mapping[str, str] = {}

    def settings_model(self) -> type[BaseModel]:
        from stepgrid.drivers.linkbench.settings import Settings

        return Settings

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["action"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        if settings["action"] == "request":
            return float(settings["duration"])
        return max(FLOOR, float(settings["ids"] / LOAD_RATE / settings["loaders"]))


DRIVER: Driver = LinkBench()
