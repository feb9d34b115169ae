"""Steps of kind quiesce: looks until the engine has no work left, instead of sleeping."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.model.plan import Command
from stepgrid.plugins.driver import Context, PackageRunner, ParserMetrics, Runner

USUAL_SECONDS = 5.0  # until it is quiet: a checkpoint, or what `waitforcompaction` sleeps; results say more


class Quiesce(ParserMetrics, PackageRunner):
    kind = "quiesce"
    revision = 2
    parser = 3
    waited = "quiesce_seconds"

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return "quiesce"

    def estimate(self, settings: Mapping[str, Any]) -> float:
        return min(float(settings["timeout"]), USUAL_SECONDS + float(settings["quiet"]))

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command:
        from stepgrid.drivers.quiesce.request import command

        return command(settings, options, context)

    def waits_for(self, folder: Path) -> str:
        from stepgrid.drivers.quiesce.parser import waits_for

        return waits_for(folder)

    def complaint(self, folder: Path) -> str | None:
        from stepgrid.drivers.quiesce.request import complaint

        return complaint(folder)


DRIVER: Runner = Quiesce()
