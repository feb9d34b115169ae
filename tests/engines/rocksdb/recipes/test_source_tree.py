from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.engines.rocksdb.recipes import source_tree
from tests.build.compilers import tree


def test_what_the_tree_says(tmp_path: Path):
    assert source_tree.version(tree(tmp_path)) == "9.8.7"
    assert source_tree.standard(tmp_path) == "c++17"
    assert source_tree.bench_sources(tmp_path) == [
        Path("tools/db_bench_tool.cc"),
        Path("tools/db_bench.cc"),
        Path("test_util/testutil.cc"),
    ]


@pytest.mark.parametrize(
    ("text", "standard"),
    [
        ('PLATFORM_CXXFLAGS="-std=$ROCKSDB_CXX_STANDARD"\nPLATFORM_CXXFLAGS="-std=c++20"\n', "c++20"),
        ('PLATFORM_CXXFLAGS="-std=c++11"\nPLATFORM_CXXFLAGS="-std=gnu++14"\n', "c++11"),
    ],
)
def test_the_standard_of_the_trees_own_script(tmp_path: Path, text: str, standard: str):
    script = tree(tmp_path) / "build_tools" / "build_detect_platform"
    script.parent.mkdir()
    script.write_text(text)
    assert source_tree.standard(tmp_path) == standard


def test_headers_that_an_old_tree_forgets_to_name(tmp_path: Path):
    header = tree(tmp_path) / "include" / "rocksdb" / "version.h"
    assert source_tree.forgotten(tmp_path) == ()
    header.write_text(header.read_text().replace("MAJOR 9", "MAJOR 7"))
    assert source_tree.forgotten(tmp_path)[:2] == ("-include", "cstdint")


def test_an_old_tree_keeps_a_file_elsewhere(tmp_path: Path):
    (tree(tmp_path) / "util").mkdir()
    (tmp_path / "test_util" / "testutil.cc").rename(tmp_path / "util" / "testutil.cc")
    assert source_tree.bench_sources(tmp_path)[-1] == Path("util/testutil.cc")


def test_a_tree_without_db_bench(tmp_path: Path):
    (tree(tmp_path) / "tools" / "db_bench.cc").unlink()
    with pytest.raises(BuildError) as error:
        source_tree.bench_sources(tmp_path)
    assert str(error.value) == "the source tree lacks tools/db_bench.cc"
