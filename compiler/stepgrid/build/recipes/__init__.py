"""The recipes; the first that takes a build makes it."""

from __future__ import annotations

from stepgrid.build.recipes.mysqld_cmake import MySQLdCMake
from stepgrid.build.recipes.postgres_configure import PostgresConfigure
from stepgrid.build.recipes.postgres_meson import PostgresMeson
from stepgrid.build.recipes.program import Program
from stepgrid.build.recipes.protocol import Recipe
from stepgrid.build.recipes.ready import Ready
from stepgrid.build.recipes.rocksdb_cmake import RocksDBCMake
from stepgrid.build.recipes.rocksdb_library import RocksDBLibrary
from stepgrid.build.recipes.rocksdb_make import RocksDBMake
from stepgrid.build.recipes.running import Running
from stepgrid.build.recipes.server_prefix import ServerPrefix
from stepgrid.build.recipes.sysbench_configure import SysbenchConfigure
from stepgrid.plan.model import PlannedBuild

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
