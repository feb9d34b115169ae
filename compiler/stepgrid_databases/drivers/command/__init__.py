"""Steps of kind command: any program, whose figures are in its report or are found by patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.model.plan import Command, Value
from stepgrid.plugins import driver
from stepgrid.plugins.driver import (
    Context,
    PackageRunner,
    Runner,
    SampleFigure,
    command_words,
    possible_files,
)
from stepgrid.plugins.hit_rate import FOUND_KEYS
from stepgrid.plugins.registry import engine
from stepgrid.plugins.server import ClientEnvironment
from stepgrid.plugins.work import WorkFigure

if TYPE_CHECKING:
    from stepgrid.model.metrics import Metric

USUAL_SECONDS = 10.0  # of a program that does not say how long it takes


class AnyCommand(PackageRunner):
    kind = "command"
    revision = 1
    parser = 5
    client = "program"
    runs_remotely = True
    reading = ("metrics", "series")
    tables = ("relative", "figures")
    work_figures = (FOUND_KEYS, WorkFigure("errors", "{:.3g} % of the operations failed", 1.0, of="operations"))

    def placeholders(self, server: Sequence[str]) -> Mapping[str, Sequence[str]]:
        return {"argv": (*driver.PLACEHOLDERS, *server)}

    def words(self, settings: Mapping[str, Any]) -> Sequence[str]:
        return possible_files(settings["argv"])

    def listed(self, settings: Mapping[str, Any]) -> Sequence[str]:
        return tuple(settings["files"])

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return Path(str(settings["argv"][0])).name

    def estimate(self, settings: Mapping[str, Any]) -> float:
        return float(settings["duration"] or USUAL_SECONDS)

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
        server = context.server
        words = command_words(settings["argv"], options, context, server.placeholders() if server else None)
        environment: Mapping[str, str] = {}
        if server and isinstance(server_engine := engine(server.engine), ClientEnvironment):
            environment = server_engine.client_environment(server)
        return Command(words, environment, settings["duration"])

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        from stepgrid_databases.drivers import client_report

        return client_report.live(folder) or client_report.live(folder, file="stdout")

    def read_sample(self, folder: Path, settings: Mapping[str, Any]) -> Iterable[SampleFigure]:
        from stepgrid_databases.drivers.command.parser import read_sample

        return read_sample(folder, settings)

    def printed_figures(self, settings: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
        from stepgrid_databases.drivers.command.selectors import texts_before_number

        patterns = {name: metric["pattern"] for name, metric in settings["metrics"].items() if not metric["file"]}
        texts = {name: texts_before_number(pattern) for name, pattern in patterns.items() if pattern}
        return {name: parts for name, parts in texts.items() if parts}

    def own_metrics(self, settings: Mapping[str, Any]) -> Mapping[str, Metric]:
        from stepgrid_databases.drivers.command.parser import own_metrics

        return own_metrics(settings)


DRIVER: Runner = AnyCommand()
