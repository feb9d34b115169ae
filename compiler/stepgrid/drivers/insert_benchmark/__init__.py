"""Steps of kind insert_benchmark: inserts in key order, with secondary indexes, deletes and queries beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepgrid.plugins.driver import Driver, PackageDriver

if TYPE_CHECKING:
    from stepgrid.model.metrics.metric import MetricSet

LOAD_RATE = 25_000  # rows per second of one client: only for estimates
INSERT_RATE = 5_000  # with secondary indexes
INDEX_SECONDS = 60.0
FLOOR = 1.0


class InsertBenchmark(PackageDriver):
    kind = "insert_benchmark"
    revision = 1
    tables = ("insert_benchmark", "response_times", "probes", "iostat")

    def metrics(self) -> MetricSet:
        from stepgrid.drivers.insert_benchmark.metrics import OWN

        return OWN

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["action"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        action = settings["action"]
        if action == "query":
            return float(settings["duration"])
        if action == "index":  # how many rows there are is not among its settings
            return INDEX_SECONDS
        rate = LOAD_RATE if action == "load" else INSERT_RATE
        return max(FLOOR, float(settings["rows"] / rate))

    def targets(self, settings: Mapping[str, Any]) -> Mapping[str, float]:
        """Rows/s that all clients of a step were to insert."""
        rate, clients = settings.get("insert_rate"), settings.get("clients")
        return {} if rate is None or clients is None else {"target_inserts_per_s": float(rate * clients)}


DRIVER: Driver = InsertBenchmark()
