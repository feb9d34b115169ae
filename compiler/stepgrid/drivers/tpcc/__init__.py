"""Steps of kind tpcc: a workload derived from TPC-C, loaded, run by its mix of five transactions, and checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.sysbench.lua_client import CHECK_SECONDS, FLOOR, LuaClient, table_engine
from stepgrid.plugins.driver import CountedWork

if TYPE_CHECKING:
    from stepgrid.plugins.driver import Runner
    from stepgrid.plugins.server import Access

TRANSACTIONS = ("new_order", "payment", "order_status", "delivery", "stock_level")
ITEMS, CUSTOMERS = 100_000, 3_000  # of TPC-C: in all, and of a district
ROWS_LOADED_PER_S = 20_000  # rows per second of one client: only for estimates
ROWS_PER_CUSTOMER = 130  # of a warehouse: ten customers with their payments, orders and lines
CLIENTS: Mapping[str, str] = {"load": "loaders", "run": "clients"}  # action -> the setting; a check has one

_PASSED = ("warehouses", "items", "customers", "think", "table_options")


class TpcC(LuaClient):
    kind = "tpcc"
    title = "tpcc"
    revision = 1
    parser = 1
    tables = ("relative", "response_times", "per_operation")

    def estimate(self, settings: Mapping[str, Any]) -> float:
        if settings["action"] == "run":
            return float(settings["duration"])
        if settings["action"] == "check":
            return CHECK_SECONDS
        work = self.counted_work(settings)
        return max(FLOOR, work.seconds) if work else FLOOR

    def counted_work(self, settings: Mapping[str, Any]) -> CountedWork | None:
        if settings["action"] != "load":
            return None
        rows = settings["warehouses"] * (settings["items"] + ROWS_PER_CUSTOMER * settings["customers"])
        loaders = min(settings["loaders"], settings["warehouses"])
        return CountedWork("warehouses", settings["warehouses"], rows / ROWS_LOADED_PER_S / loaders)

    def threads(self, settings: Mapping[str, Any]) -> int:
        name = CLIENTS.get(settings["action"])
        return int(settings[name]) if name else 1

    def script_options(self, settings: Mapping[str, Any], access: Access) -> Mapping[str, Any]:
        options = {name: settings[name] for name in _PASSED if settings[name] not in (None, "")}
        options |= {
            "action": settings["action"],
            "clients": self.threads(settings),
            "seconds": int(settings["duration"] or 0),
            "mix": ",".join(f"{name}:{percent}" for name, percent in settings["mix"].items() if percent),
        }
        engine = table_engine(access) or {"storage-engine": ""}
        return {**options, **engine, "anew": access.running and settings["action"] == "load"}


DRIVER: Runner = TpcC()
