"""Steps of kind insert_benchmark: inserts in key order, with secondary indexes, deletes and queries beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.insert_benchmark import command
from stepgrid.drivers.sysbench import client_files
from stepgrid.plugins.driver import PackageRunner

if TYPE_CHECKING:
    from stepgrid.model.command import Command
    from stepgrid.model.metrics.metric import MetricSet
    from stepgrid.plugins.driver import Context, Runner

LOAD_RATE = 25_000  # rows per second of one client: only for estimates
INSERT_RATE = 5_000  # with secondary indexes
INDEX_SECONDS = 60.0
FLOOR = 1.0


class InsertBenchmark(PackageRunner):
    kind = "insert_benchmark"
    revision = 2
    parser = 2
    tables = ("insert_benchmark", "response_times", "probes", "iostat")
    client = command.CLIENT

    def metrics(self) -> MetricSet:
        from stepgrid.drivers.insert_benchmark.metrics import OWN

        return OWN

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["action"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        action = settings["action"]
        if action == "query":
            return float(settings["duration"])
        if action in ("index", "check"):  # how many rows there are is not among its settings
            return INDEX_SECONDS
        rate = LOAD_RATE if action == "load" else INSERT_RATE
        return max(FLOOR, float(settings["rows"] / rate))

    def targets(self, settings: Mapping[str, Any]) -> Mapping[str, float]:
        """Rows/s that all clients of a step were to insert."""
        rate, clients = settings.get("insert_rate"), settings.get("clients")
        return {} if rate is None or clients is None else {"target_inserts_per_s": float(rate * clients)}

    def files(self, settings: Mapping[str, Any], own: Callable[[str], str]) -> Mapping[str, str]:
        return client_files.files(command.FOLDER)

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command:
        return command.command(settings, context)

    def complaint(self, folder: Path) -> str | None:
        from stepgrid.drivers.insert_benchmark.parser import complaint

        return complaint(folder)

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        from stepgrid.drivers.insert_benchmark import live_throughput

        return live_throughput.readings(folder)


DRIVER: Runner = InsertBenchmark()
