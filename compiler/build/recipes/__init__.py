"""The recipes; the first that takes a build makes it."""

from __future__ import annotations

from compiler.build.recipes.mysqld_cmake import MySQLdCMake
from compiler.build.recipes.postgres_configure import PostgresConfigure
from compiler.build.recipes.postgres_meson import PostgresMeson
from compiler.build.recipes.program import Program
from compiler.build.recipes.protocol import Recipe
from compiler.build.recipes.ready import Ready
from compiler.build.recipes.rocksdb_cmake import RocksDBCMake
from compiler.build.recipes.rocksdb_library import RocksDBLibrary
from compiler.build.recipes.rocksdb_make import RocksDBMake
from compiler.build.recipes.running import Running
from compiler.build.recipes.server_prefix import ServerPrefix
from compiler.build.recipes.sysbench_configure import SysbenchConfigure
from compiler.plan.model import PlannedBuild

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
