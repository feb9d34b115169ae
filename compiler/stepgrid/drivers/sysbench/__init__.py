"""Steps of kind sysbench: a workload in Lua against a server, one of those that come with it or one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.sysbench import command, workload_files
from stepgrid.plugins.driver import PackageDriver

if TYPE_CHECKING:
    from stepgrid.model.command import Command
    from stepgrid.model.figures import Figures, PrintedStep
    from stepgrid.model.metrics.metric import MetricSet
    from stepgrid.plugins.driver import Context, Runner

LOAD_RATE = 20_000  # rows per second of one client: only for estimates
EVENT_RATE = 1_000
FLOOR = 1.0


class Sysbench(PackageDriver):
    kind = "sysbench"
    revision = 2
    parser = 1
    tables = ("groups", "absolute", "before_after", "load", "errors", "cpu", "per_operation")
    client = command.CLIENT

    def metrics(self) -> MetricSet:
        from stepgrid.drivers.sysbench.metrics import OWN

        return OWN

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["lua"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        if settings["lua"] == command.LOAD:
            return max(FLOOR, float(settings["rows"] * settings["tables"] / LOAD_RATE / settings["threads"]))
        if settings["events"] is not None:
            return max(FLOOR, float(settings["events"] / EVENT_RATE))
        return float(settings["duration"] or FLOOR)

    def files(self, settings: Mapping[str, Any], own: Callable[[str], str]) -> Mapping[str, str]:
        return workload_files.files(settings["lua"], own, settings["arguments"])

    def targets(self, settings: Mapping[str, Any]) -> Mapping[str, float]:
        rate = settings.get("rate")
        return {} if rate is None else {"target_transactions_per_s": float(rate)}

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command:
        return command.command(settings, context)

    def parse(self, folder: Path, settings: Mapping[str, Any]) -> Figures:
        from stepgrid.drivers.sysbench.parser.step import of_folder

        return of_folder(folder, settings)

    def complaint(self, folder: Path) -> str | None:
        from stepgrid.drivers.sysbench.parser.step import complaint

        return complaint(folder)

    def printed(self, path: Path) -> Sequence[PrintedStep]:
        from stepgrid.drivers.sysbench.standalone_output import printed

        return printed(path)

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        from stepgrid.drivers.sysbench import live_throughput

        return live_throughput.readings(folder)


DRIVER: Runner = Sysbench()
