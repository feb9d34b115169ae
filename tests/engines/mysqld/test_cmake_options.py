from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.engines.mysqld.cmake_options import boost


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """As of MySQL 8.0.31."""
    (tmp_path / "cmake").mkdir()
    (tmp_path / "cmake" / "boost.cmake").write_text('# comment\nSET(BOOST_PACKAGE_NAME "boost_1_77_0")\n')
    return tmp_path


def test_an_archive_that_brings_it(tree: Path):
    (tree / "boost" / "boost_1_77_0").mkdir(parents=True)
    assert boost(tree, {}) == {"WITH_BOOST": str(tree / "boost")}


def test_a_release_that_finds_its_own(tree: Path):
    (tree / "extra" / "boost" / "boost_1_77_0").mkdir(parents=True)
    assert boost(tree, {}) == {}


def test_one_that_the_spec_names(tree: Path):
    assert boost(tree, {"WITH_BOOST": "/opt/boost"}) == {}


def test_a_tree_that_needs_none(tmp_path: Path):
    assert boost(tmp_path, {}) == {}


def test_nothing_is_downloaded(tree: Path):
    with pytest.raises(BuildError) as caught:
        boost(tree, {})
    assert str(caught.value) == (
        "this release of MySQL is compiled with boost_1_77_0, which its tree does not hold: take its archive that does "
        "(mysql-boost-VERSION.tar.gz), or unpack boost_1_77_0 and say `flags: {WITH_BOOST: FOLDER}`"
    )
