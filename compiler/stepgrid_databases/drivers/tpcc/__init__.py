"""Steps of kind tpcc: a workload derived from TPC-C, loaded, run by its mix of five transactions, and checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepgrid.plugins.driver import CountedWork, SqlOperations
from stepgrid.plugins.work import WorkFigure, drawn_shares
from stepgrid_databases.drivers.sysbench.lua_client import MixClient, mix_option

if TYPE_CHECKING:
    from stepgrid.plugins.driver import Runner
    from stepgrid.plugins.server import Access

TRANSACTIONS = ("new_order", "payment", "order_status", "delivery", "stock_level")
ITEMS, CUSTOMERS = 100_000, 3_000  # of TPC-C: in all, and of a district
ROWS_LOADED_PER_S = 20_000  # rows per second of one client: only for estimates
ROWS_PER_CUSTOMER = 130  # of a warehouse: ten customers with their payments, orders and lines


class TpcC(MixClient):
    kind = "tpcc"
    title = "tpcc"
    revision = 1
    parser = 2
    tables = ("relative", "response_times", "per_operation")
    operations = SqlOperations(
        point_read="new_order payment order_status delivery stock_level",
        short_range="payment order_status delivery stock_level",
        insert="load new_order payment",
        other_update="new_order payment delivery",
        delete="delivery",
        transaction_of_several_statements="new_order payment order_status delivery stock_level",
    )
    work_figures = (
        *drawn_shares(TRANSACTIONS, "transactions"),
        WorkFigure("rolled_back_orders", "{:.3g} % of the transactions rolled back", 1.0, "operations", "operations"),
        WorkFigure(
            "skipped_deliveries", "{:.3g} districts without an order to deliver in 100 transactions", 5.0, "operations"
        ),
    )
    clients: Mapping[str, str] = {"load": "loaders", "run": "clients"}
    module = "running"
    passed = ("warehouses", "items", "customers", "think", "table_options")

    def counted_work(self, settings: Mapping[str, Any]) -> CountedWork | None:
        if settings["action"] != "load":
            return None
        rows = settings["warehouses"] * (settings["items"] + ROWS_PER_CUSTOMER * settings["customers"])
        loaders = min(settings["loaders"], settings["warehouses"])
        return CountedWork("warehouses", settings["warehouses"], rows / ROWS_LOADED_PER_S / loaders)

    def script_options(self, settings: Mapping[str, Any], access: Access) -> Mapping[str, Any]:
        return {**super().script_options(settings, access), **mix_option(settings)}


DRIVER: Runner = TpcC()
