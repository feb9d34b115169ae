"""A server that already runs: there is nothing to make."""

from __future__ import annotations

from compiler.build.declared import runs_already
from compiler.build.order import Order
from compiler.build.recipes.protocol import Made
from compiler.build.sources.protocol import Material
from compiler.plan.model import PlannedBuild


class Running:
    name = "running"

    def takes(self, build: PlannedBuild) -> bool:
        return runs_already(build.source)

    def make(self, order: Order, material: Material) -> Made:
        return Made({})
