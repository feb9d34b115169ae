"""Steps of kind sql: statements of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.plan import Command, Value
from stepgrid.plugins import driver
from stepgrid.plugins.driver import Context, PackageRunner, ParserMetrics, Runner

STATEMENT_SECONDS = 1.0  # only for estimates


class Sql(ParserMetrics, PackageRunner):
    kind = "sql"
    revision = 1
    parser = 2

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return "sql"  # statements may differ between arms

    def targets(self, settings: Mapping[str, Any]) -> Mapping[str, float]:
        from stepgrid_databases.drivers import open_loop

        return open_loop.targets(settings)

    def estimate(self, settings: Mapping[str, Any]) -> float:
        if settings.get("duration"):
            return float(settings["duration"])
        return min(float(settings["timeout"]), STATEMENT_SECONDS * len(settings["sql"]))

    def files(self, settings: Mapping[str, Any], read_own: Callable[[str], str]) -> Mapping[str, str]:
        from stepgrid_databases.drivers import open_loop

        return open_loop.files(settings, read_own)

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
        timeout, request = float(settings["timeout"]), {"sql": list(settings["sql"])}
        if not settings.get("rate"):
            return driver.server_request(__name__, context, {**request, "timeout": timeout}, timeout)
        paced = {name: settings.get(name) for name in ("rate", "arrivals", "duration", "clients")}
        duration = float(settings["duration"])
        seed = {"seed": context.seed, "timeout": duration + timeout}
        return driver.server_request(__name__, context, {**request, **paced, **seed}, duration)

    def statements(self, settings: Mapping[str, Any], files: Mapping[str, str], engine: str) -> Sequence[str]:
        return tuple(settings["sql"])

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        from stepgrid_databases.drivers import client_report

        return client_report.live(folder)


DRIVER: Runner = Sql()
