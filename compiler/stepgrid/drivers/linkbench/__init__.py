"""Steps of kind linkbench: a social graph in three tables, loaded and then asked by a mix of ten operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.linkbench import command
from stepgrid.drivers.sysbench import client_files
from stepgrid.plugins.driver import PackageRunner

if TYPE_CHECKING:
    from stepgrid.model.command import Command
    from stepgrid.model.figures import PrintedStep
    from stepgrid.model.metrics.metric import MetricSet
    from stepgrid.plugins.driver import Context, Runner

LOAD_RATE = 2_000  # nodes with their links, per second of one client: only for estimates
CHECK_SECONDS = 60.0
FLOOR = 1.0


class LinkBench(PackageRunner):
    kind = "linkbench"
    revision = 2
    parser = 1
    tables = ("relative", "linkbench", "response_times", "per_operation")
    client = command.CLIENT

    def metrics(self) -> MetricSet:
        from stepgrid.drivers.linkbench.metrics import OWN

        return OWN

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["action"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        if settings["action"] == "request":
            return float(settings["duration"])
        if settings["action"] == "check":  # how many rows there are is not among its settings
            return CHECK_SECONDS
        return max(FLOOR, float(settings["ids"] / LOAD_RATE / settings["loaders"]))

    def files(self, settings: Mapping[str, Any], own: Callable[[str], str]) -> Mapping[str, str]:
        return client_files.files(command.FOLDER)

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command:
        return command.command(settings, context)

    def complaint(self, folder: Path) -> str | None:
        from stepgrid.drivers.linkbench.parser import complaint

        return complaint(folder)

    def printed(self, path: Path) -> Sequence[PrintedStep]:
        from stepgrid.drivers.linkbench.standalone_output import printed

        return printed(path)

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        from stepgrid.drivers.linkbench import live_throughput

        return live_throughput.readings(folder)


DRIVER: Runner = LinkBench()
