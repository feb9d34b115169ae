"""The smallest tree that the recipe takes for one of MySQL, compiled."""

import subprocess
from pathlib import Path

import pytest

from stepgrid.build.programs import absolute
from stepgrid.build.source import Material
from stepgrid.engines.mysqld.recipe import MySQLdCMake
from tests.build.ordering import order, recipe_of
from tests.needs import needs

CMAKE = """\
cmake_minimum_required(VERSION 3.10)
project(server CXX)
add_executable(mysqld sql/mysqld.cc)
install(TARGETS mysqld DESTINATION bin)
install(FILES sql/mysqld.cc DESTINATION mysql-test)
install(FILES sql/mysqld.cc DESTINATION share RENAME mysql_system_tables.sql)
"""
# says where it was told that its files are
MAIN = '#include <cstdio>\n#include <cstdlib>\nint main() { puts(getenv("MY_BASEDIR_VERSION")); }\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "attempt" / "tree"
    (made / "sql").mkdir(parents=True)
    (made / "CMakeLists.txt").write_text(CMAKE)
    (made / "sql" / "mysqld.cc").write_text(MAIN)
    return made


@needs("cc", "c++", "cmake", "ninja", "bison", "pkg-config")
def test_a_server_that_is_told_where_its_files_are(tree: Path):
    recipe = {"flags": {"libraries": "system", "cxxflags": "-O1"}}
    asked = order(tree.parent, {"path": "x"}, engine="mysql", recipe=recipe)
    made = MySQLdCMake("mysql").make(asked, Material(tree=tree))
    assert made.programs == {"mysqld": ("prefix/bin/mysqld",)}
    assert (made.facts["basedir"], made.facts["system tables"]) == ("prefix", "prefix/share")
    assert (made.quality["route"], made.quality["optimisation"]) == ("source", "-O3")  # Release; its -O comes last
    assert sorted(path.name for path in (tree.parent / "prefix").iterdir()) == ["bin", "share"]
    moved = tree.parent.rename(tree.parent.with_name("moved"))
    done = subprocess.run(absolute(moved, made.programs["mysqld"]), capture_output=True, text=True, check=True)
    assert done.stdout == f"{moved}/prefix\n"


@pytest.mark.parametrize("engine", ["mysql", "mariadb"])
def test_each_engine_has_its_own(tmp_path: Path, engine: str):
    recipe = recipe_of(order(tmp_path, {"path": "x"}, engine=engine).build)
    assert isinstance(recipe, MySQLdCMake)
    assert recipe.engine == engine
