"""A server that already runs: there is nothing to make."""

from __future__ import annotations

from stepgrid.build.recipe import Made
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.language.builds.sources import runs_already
from stepgrid.model.plan import PlannedBuild


class Running:
    name = "running"

    def takes(self, build: PlannedBuild) -> bool:
        return runs_already(build.source)

    def make(self, order: Order, material: Material) -> Made:
        return Made({})
