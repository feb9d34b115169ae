"""Which recipe makes a build: one for programs that are there already, or one that its engine brings."""

from __future__ import annotations

from stepgrid.build.compilation.install_prefix import argv_of, find_programs
from stepgrid.build.recipe import BuiltPrograms, PackagedEngine, Recipe, RecipeProvider
from stepgrid.build.recipes.server_packages import ServerPrefix
from stepgrid.build.source import Material
from stepgrid.build.sources import source_of
from stepgrid.build.task import Order
from stepgrid.language.sources import READY
from stepgrid.model.plan import PlannedBuild, runs_already
from stepgrid.plugins.engine import Engine


def recipe_of(build: PlannedBuild, engine: Engine) -> Recipe | None:
    """None where this version has none for the engine and the kind of source."""
    unpacked: tuple[Recipe, ...] = (ServerPrefix(),) if isinstance(engine, PackagedEngine) else ()
    own = engine.recipes() if isinstance(engine, RecipeProvider) else ()
    return next((recipe for recipe in (*unpacked, Ready(), Running(), *own) if recipe.takes(build)), None)


class Ready:
    """Of the machine, or in packages that were unpacked."""

    name, tools = "ready", ()

    def takes(self, build: PlannedBuild) -> bool:
        return any(kind in build.source for kind in READY)

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        if material.prefix is None:
            return BuiltPrograms({name: (str(path),) for name, path in material.programs.items()})
        what = source_of(order.build.source).describe(order.build.source)
        paths = find_programs(material.prefix, order.programs, what)
        return BuiltPrograms({name: argv_of(order.folder, path, order.commands) for name, path in paths.items()})


class Running:
    """A server that already runs: there is nothing to make."""

    name, tools = "running", ()

    def takes(self, build: PlannedBuild) -> bool:
        return runs_already(build.source)

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        return BuiltPrograms({})
