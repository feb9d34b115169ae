"""The recipes; the first that takes a build makes it."""

from __future__ import annotations

from stepgrid.build.recipe import Recipe
from stepgrid.build.recipes.existing_programs import Ready, Running
from stepgrid.build.recipes.server_packages import ServerPrefix
from stepgrid.engines.mysqld.recipe import MySQLdCMake
from stepgrid.engines.postgres.recipes.configure import PostgresConfigure
from stepgrid.engines.postgres.recipes.meson import PostgresMeson
from stepgrid.engines.program.recipe import Program
from stepgrid.engines.rocksdb.recipes.cmake import RocksDBCMake
from stepgrid.engines.rocksdb.recipes.library import RocksDBLibrary
from stepgrid.engines.rocksdb.recipes.make import RocksDBMake
from stepgrid.engines.sysbench.recipe import SysbenchConfigure
from stepgrid.model.plan import PlannedBuild

RECIPES: tuple[Recipe, ...] = (
    ServerPrefix(),
    Ready(),
    Running(),
    Program(),
    RocksDBLibrary(),
    RocksDBMake(),
    RocksDBCMake(),
    PostgresConfigure(),
    PostgresMeson(),
    MySQLdCMake("mysql"),
    MySQLdCMake("mariadb"),
    SysbenchConfigure(),
)


def recipe_of(build: PlannedBuild) -> Recipe | None:
    """None where this version has none for the engine and the kind of source."""
    return next((recipe for recipe in RECIPES if recipe.takes(build)), None)
