"""The smallest tree that the recipe takes for one of MySQL, compiled."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Material
from stepgrid.build.record import absolute
from stepgrid.engines.recipes.mysqld import MySQLdCMake, boost_options
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


@pytest.fixture
def boost_tree(tmp_path: Path) -> Path:
    """As of MySQL 8.0.31."""
    (tmp_path / "cmake").mkdir()
    (tmp_path / "cmake" / "boost.cmake").write_text('# comment\nSET(BOOST_PACKAGE_NAME "boost_1_77_0")\n')
    return tmp_path


def test_an_archive_that_brings_it(boost_tree: Path):
    (boost_tree / "boost" / "boost_1_77_0").mkdir(parents=True)
    assert boost_options(boost_tree, {}) == {"WITH_BOOST": str(boost_tree / "boost")}


def test_a_release_that_finds_its_own(boost_tree: Path):
    (boost_tree / "extra" / "boost" / "boost_1_77_0").mkdir(parents=True)
    assert boost_options(boost_tree, {}) == {}


def test_one_that_the_spec_names(boost_tree: Path):
    assert boost_options(boost_tree, {"WITH_BOOST": "/opt/boost"}) == {}


def test_a_tree_that_needs_none(tmp_path: Path):
    assert boost_options(tmp_path, {}) == {}


def test_nothing_is_downloaded(boost_tree: Path):
    with pytest.raises(BuildError) as caught:
        boost_options(boost_tree, {})
    assert str(caught.value) == (
        "this release of MySQL is compiled with boost_1_77_0, which its tree does not hold: take its archive that does "
        "(mysql-boost-VERSION.tar.gz), or unpack boost_1_77_0 and say `flags: {WITH_BOOST: FOLDER}`"
    )
