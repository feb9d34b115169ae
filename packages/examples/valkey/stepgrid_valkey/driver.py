"""Steps of kind valkey_benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.model.figures import Figures, PrintedStep
from stepgrid.model.metrics import BENCHMARK, Metric, MetricSet
from stepgrid.model.plan import Command, Value
from stepgrid.plugins.driver import Context, Runner
from stepgrid_valkey import output

if TYPE_CHECKING:
    from pydantic import BaseModel

RATE = 50_000  # requests per second of a small machine: only for estimates
FLAGS = {"test": "-t", "requests": "-n", "keys": "-r", "size": "-d", "clients": "-c", "pipeline": "-P",
         "threads": "--threads"}  # fmt: skip
OWN = (
    Metric("valkey_min_us", "us", "lower", "Lowest latency of a request.", BENCHMARK),
    Metric("valkey_p95_us", "us", "lower", "95th percentile of latency.", BENCHMARK),
)


class ValkeyBenchmark:
    kind = "valkey_benchmark"
    revision = 1
    parser = 1
    tables = ("relative", "percentiles")
    reserved: Mapping[str, str] = {}

    def settings_model(self) -> type[BaseModel]:
        from stepgrid_valkey.settings import ValkeySettings

        return ValkeySettings

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["test"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        return max(1.0, float(settings["requests"]) / RATE)

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
        """The options are the server's, which has them in its configuration."""
        assert context.server is not None
        given = {flag: settings[name] for name, flag in FLAGS.items()}
        words = {"-s": context.server.socket, **given, "--seed": context.seed}
        return Command((*context.programs["valkey-benchmark"], *(str(word) for pair in words.items() for word in pair)))

    def parse(self, folder: Path, settings: Mapping[str, Any]) -> Figures:
        return output.parse(folder / "stdout")

    def printed(self, path: Path) -> Sequence[PrintedStep]:
        """`stepgrid parse valkey_benchmark FILE`."""
        return [PrintedStep("valkey-benchmark", output.parse(path))]

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        return output.newest(folder / "stdout")

    def metrics(self) -> MetricSet:
        return MetricSet({"Valkey": OWN})


DRIVER: Runner = ValkeyBenchmark()
