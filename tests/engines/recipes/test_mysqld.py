"""The smallest tree that the recipe takes for one of MySQL, compiled."""

import subprocess
import tarfile
from typing import cast

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Material
from stepgrid.build.record import absolute
from stepgrid.host.files import sha256
from stepgrid.model.site import Site
from stepgrid_databases.engines.recipes import mysqld
from stepgrid_databases.engines.recipes.mysqld import Boost, MySQLdCMake, find_boost
from tests.build.ordering import order
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
def tree(tmp_path):
    made = tmp_path / "attempt" / "tree"
    (made / "sql").mkdir(parents=True)
    (made / "CMakeLists.txt").write_text(CMAKE)
    (made / "sql" / "mysqld.cc").write_text(MAIN)
    return made


@needs("cc", "c++", "cmake", "ninja", "bison", "pkg-config")
def test_a_server_that_is_told_where_its_files_are(tree):
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


@pytest.fixture
def boost_tree(tmp_path):
    """As of MySQL 8.0.31."""
    (tmp_path / "cmake").mkdir()
    (tmp_path / "cmake" / "boost.cmake").write_text('# comment\nSET(BOOST_PACKAGE_NAME "boost_1_77_0")\n')
    return tmp_path


def boost_of(tree, site=None, **flags):
    asked = order(tree / "attempt", {"path": "x"}, engine="mysql", site=site or Site())
    return find_boost(asked, tree, flags)


def test_an_archive_that_brings_it(boost_tree):
    (boost_tree / "boost" / "boost_1_77_0").mkdir(parents=True)
    assert boost_of(boost_tree) == Boost(boost_tree / "boost")


def test_a_release_that_finds_its_own(boost_tree):
    (boost_tree / "extra" / "boost" / "boost_1_77_0").mkdir(parents=True)
    assert boost_of(boost_tree) is None


def test_one_that_the_tree_lacks_is_fetched(boost_tree, monkeypatch):
    """As of a tag in git; a mirror of the site file stands for its publisher."""
    mirror = boost_tree / "mirror"
    header = mirror / "boost_1_77_0" / "boost" / "version.hpp"
    header.parent.mkdir(parents=True)
    header.write_text("#define BOOST_VERSION 107700\n")
    archive = mirror / "1.77.0" / "source" / "boost_1_77_0.tar.bz2"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:bz2") as file:
        file.add(mirror / "boost_1_77_0", "boost_1_77_0")
    monkeypatch.setitem(cast("dict[str, str]", mysqld._BOOST), "1.77.0", sha256(archive))
    boost = boost_of(boost_tree, Site(mirrors={"https://archives.boost.io/release/": str(mirror)}))
    assert (boost.folder / "boost" / "version.hpp").read_text() == header.read_text()
    assert [artifact.version for artifact in boost.artifacts] == ["boost_1_77_0.tar.bz2"]


def test_another_file_in_its_place_is_refused(boost_tree):
    archive = boost_tree / "1.77.0" / "source" / "boost_1_77_0.tar.bz2"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"something else")
    with pytest.raises(BuildError, match="is not the file that the spec means"):
        boost_of(boost_tree, Site(mirrors={"https://archives.boost.io/release/": str(boost_tree)}))


def test_a_version_that_is_not_known(boost_tree):
    file = boost_tree / "cmake" / "boost.cmake"
    file.write_text(file.read_text().replace("1_77_0", "1_99_0"))
    with pytest.raises(BuildError) as caught:
        boost_of(boost_tree)
    assert str(caught.value) == (
        "this release of MySQL is compiled with boost_1_99_0, which its tree does not hold: unpack boost_1_99_0 and "
        "say `flags: {WITH_BOOST: FOLDER}`"
    )
