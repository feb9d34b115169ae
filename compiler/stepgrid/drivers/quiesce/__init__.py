"""Steps of kind quiesce: looks until the engine has no work left, instead of sleeping."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.model.command import Command
from stepgrid.model.figures import Figures
from stepgrid.plugins.driver import Context, Runner

if TYPE_CHECKING:
    from pydantic import BaseModel

    from stepgrid.model.metrics.metric import MetricSet

USUAL_SECONDS = 60.0  # only for estimates


class Quiesce:
    kind = "quiesce"
    revision = 2
    parser = 2
    reserved: Mapping[str, str] = {}

    def settings_model(self) -> type[BaseModel]:
        from stepgrid.drivers.quiesce.settings import Settings

        return Settings

    def metrics(self) -> MetricSet:
        from stepgrid.drivers.quiesce.metrics import OWN

        return OWN

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return "quiesce"

    def estimate(self, settings: Mapping[str, Any]) -> float:
        return min(float(settings["timeout"]), USUAL_SECONDS)

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command:
        from stepgrid.drivers.quiesce.request import command

        return command(settings, options, context)

    def parse(self, folder: Path, settings: Mapping[str, Any]) -> Figures:
        from stepgrid.drivers.quiesce.parser import parse

        return parse(folder)

    def complaint(self, folder: Path) -> str | None:
        from stepgrid.drivers.quiesce.request import complaint

        return complaint(folder)


DRIVER: Runner = Quiesce()
