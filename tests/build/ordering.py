"""Orders for the tests of sources and recipes: a build in a folder of the test's own."""

from stepgrid.build import ready_programs
from stepgrid.build.commands import Commands
from stepgrid.build.recipe import Order
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.site import Site
from stepgrid.plugins.registry import require_builder
from tests.build.snake import Snake


class Engine(Snake):
    """The snake, with programs of a test's choice."""

    def __init__(self, *programs):
        self.programs = programs or Snake.programs


def order(folder, source, *programs, **fields):
    """`fields`: of the planned build, and `site`."""
    folder.mkdir(parents=True, exist_ok=True)
    site = fields.pop("site", Site())
    build = PlannedBuild(
        **{"id": "b-0", "name": "snake-1", "engine": "snake", "version": "", "source": source, **fields}
    )
    engine = Engine(*programs) if build.engine == "snake" else require_builder(build.engine)
    return Order(build, engine, folder, Commands(folder / "build.log", folder), site)


def recipe_of(build):
    return ready_programs.recipe_of(build, require_builder(build.engine))
