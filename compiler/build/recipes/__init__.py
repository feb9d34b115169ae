"""The recipes; the first that takes a build makes it."""

from __future__ import annotations

from compiler.build.recipes.protocol import Recipe
from compiler.build.recipes.ready import Ready
from compiler.plan.model import PlannedBuild

RECIPES: tuple[Recipe, ...] = (Ready(),)


def recipe_of(build: PlannedBuild) -> Recipe | None:
    """None where this version has none for the engine and the kind of source."""
    return next((recipe for recipe in RECIPES if recipe.takes(build)), None)
