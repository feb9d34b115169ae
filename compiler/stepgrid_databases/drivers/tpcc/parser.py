"""Figures of a step's report: new orders and transactions per minute, latencies of each transaction."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Figures
from stepgrid.model.metrics import STEP, Metric, MetricSet
from stepgrid_databases.drivers import client_report
from stepgrid_databases.drivers.client_report import (
    operation_figures,
    operation_latencies,
    operation_load,
    operation_metrics,
    operation_roles,
    total_count,
)
from stepgrid_databases.drivers.tpcc import CUSTOMERS, ITEMS, TRANSACTIONS

MINUTE = 60.0  # seconds

_RATES = (
    Metric("nopm", "orders/min", "higher",
           "New orders per minute: `new_order` transactions that all clients committed, over wall time.", STEP),
    Metric("tpm", "transactions/min", "higher",
           "Transactions of all five types per minute of wall time; new orders that were rolled back count.", STEP),
    Metric("rolled_back_orders", "transactions", None,
           "New orders that asked for an item that there is not, and were rolled back: one of a hundred.", STEP),
    Metric("skipped_deliveries", "districts", "lower",
           "Districts that a `delivery` left out because no order was there to deliver.", STEP),
)  # fmt: skip
METRICS = MetricSet({"tpcc": (*_RATES, *(metric for name in TRANSACTIONS for metric in operation_metrics(name)))})


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    report = client_report.read_whole(folder / client_report.FILE)
    if settings["action"] == "check":
        return Figures({"seconds": report.seconds}, {})
    if settings["action"] == "load":
        return operation_figures(report, operation_load(report), _small_tables(settings))
    rates = operation_latencies(report)
    rolled_back, skipped = (
        float(sum(line[name] for line in report.of("terminal"))) for name in ("rolled_back", "skipped")
    )
    new_orders = total_count(operation_roles(report).get("new_order", ()))
    metrics = {
        "nopm": (new_orders - rolled_back) / rates["seconds"] * MINUTE,
        "tpm": rates["qps"] * MINUTE,
        "rolled_back_orders": rolled_back,
        "skipped_deliveries": skipped,
    }
    return operation_figures(
        report, {**rates, **metrics, **client_report.over_limit(report, settings)}, _small_tables(settings)
    )


def _small_tables(settings: Mapping[str, Any]) -> list[str]:
    if (settings["items"], settings["customers"]) == (ITEMS, CUSTOMERS):
        return []
    sizes = f"{settings['items']:,} items and {settings['customers']:,} customers of a district"
    return [f"tables are smaller than TPC-C's: {sizes}, where TPC-C has {ITEMS:,} and {CUSTOMERS:,}"]
