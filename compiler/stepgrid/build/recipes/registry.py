"""Which recipe makes a build: one for programs that are there already, or one that its engine brings."""

from __future__ import annotations

from stepgrid.build.recipe import Making, Packaged, Recipe
from stepgrid.build.recipes.existing_programs import Ready, Running
from stepgrid.build.recipes.server_packages import ServerPrefix
from stepgrid.model.plan import PlannedBuild
from stepgrid.plugins.engine import Engine


def recipe_of(build: PlannedBuild, engine: Engine) -> Recipe | None:
    """None where this version has none for the engine and the kind of source."""
    unpacked: tuple[Recipe, ...] = (ServerPrefix(),) if isinstance(engine, Packaged) else ()
    own = engine.recipes() if isinstance(engine, Making) else ()
    return next((recipe for recipe in (*unpacked, Ready(), Running(), *own) if recipe.takes(build)), None)
