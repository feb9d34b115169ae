"""Steps of kind sql: statements of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepgrid.model.plan import Command
from stepgrid.plugins import driver
from stepgrid.plugins.driver import Context, PackageRunner, ParserMetrics, Runner

STATEMENT_SECONDS = 1.0  # only for estimates


class Sql(ParserMetrics, PackageRunner):
    kind = "sql"
    revision = 1
    parser = 1

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return "sql"  # statements may differ between arms

    def estimate(self, settings: Mapping[str, Any]) -> float:
        return min(float(settings["timeout"]), STATEMENT_SECONDS * len(settings["sql"]))

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command:
        timeout = float(settings["timeout"])
        return driver.server_request(__name__, context, {"sql": list(settings["sql"]), "timeout": timeout}, timeout)

    def statements(self, settings: Mapping[str, Any], files: Mapping[str, str], engine: str) -> Sequence[str]:
        return tuple(settings["sql"])


DRIVER: Runner = Sql()
