"""Steps of kind sysbench: one of its Lua workloads against a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from compiler.drivers.protocol import Driver

if TYPE_CHECKING:
    from pydantic import BaseModel

LOAD_RATE = 20_000  # rows per second of one client: only for estimates
EVENT_RATE = 1_000
FLOOR = 1.0


class Sysbench:
    kind = "sysbench"
    revision = 1
    reserved: Mapping[str, str] = {}

    def settings_model(self) -> type[BaseModel]:
        from compiler.drivers.sysbench.settings import Settings

        return Settings

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["lua"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        if settings["lua"] == "load":
            return max(FLOOR, float(settings["rows"] * settings["tables"] / LOAD_RATE / settings["threads"]))
        if settings["events"] is not None:
            return max(FLOOR, float(settings["events"] / EVENT_RATE))
        return float(settings["duration"] or FLOOR)


DRIVER: Driver = Sysbench()
