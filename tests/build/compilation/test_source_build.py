"""What every compile does first and last, without an engine."""

import subprocess
from pathlib import Path

import pytest

from stepgrid.build.compilation import Compile, Development, find_toolchain, move_installed, prepare, tree_root
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Material
from stepgrid.language.flags import Flags
from tests.build.compilers import needs_compiler
from tests.build.ordering import order
from tests.needs import needs

MARK = "include/x/version.h"


def tree(folder: Path) -> Path:
    (folder / MARK).parent.mkdir(parents=True)
    (folder / MARK).touch()
    return folder


@pytest.mark.parametrize("below", [".", "x", "a-crate-1.0/x"])
def test_the_tree_is_found_where_an_archive_has_it(tmp_path: Path, below: str):
    assert tree_root(tree(tmp_path / below), MARK, "x") == tmp_path / below
    assert tree_root(tmp_path, MARK, "x") == tmp_path / below


def test_the_outermost_counts(tmp_path: Path):
    tree(tmp_path / "bundled")
    assert tree_root(tree(tmp_path), MARK, "x") == tmp_path


def test_another_tree(tmp_path: Path):
    with pytest.raises(BuildError) as error:
        tree_root(tmp_path, MARK, "x")
    assert str(error.value) == "this is no source tree of x: it has no include/x/version.h"


def test_a_source_without_a_tree(tmp_path: Path):
    with pytest.raises(BuildError) as error:
        prepare(order(tmp_path, {"maven": "a:b:1"}), Material(prefix=tmp_path), MARK, ())
    assert str(error.value) == "the source brings no tree to compile snake from"


@needs_compiler
def test_what_fails_is_named_and_the_spec_has_the_last_word(tmp_path: Path):
    placed, flags = order(tmp_path, {}), Flags(environment={"WORD": "the spec's"})
    compiled = Compile(placed, tmp_path, flags, find_toolchain(placed, flags), Development(None))
    script = 'test "$WORD" = "the spec\'s"'
    compiled.run(["sh", "-c", script], tmp_path, {"WORD": "the recipe's"})
    with pytest.raises(BuildError, match=r"^sh failed; the end of the log says where$"):
        compiled.run(["sh", "-c", "exit 3"], tmp_path)
    with pytest.raises(BuildError, match=r"^no luck$"):
        compiled.run(["sh", "-c", "exit 3"], tmp_path, fault="no luck")


@needs_compiler
@needs("strip")
def test_what_is_left_of_an_installation(tmp_path: Path):
    placed = order(tmp_path / "build", {})
    compiled = Compile(placed, tmp_path, Flags(), find_toolchain(placed, Flags()), Development(None))
    for name in ("bin/x", "lib/x.a", "include/x.h"):
        (placed.folder / "staging" / name).parent.mkdir(parents=True)
        (placed.folder / "staging" / name).touch()
    subprocess.run(["cc", "-xc", "-", "-o", str(placed.folder / "staging/bin/x")], input=b"int main() {}", check=True)
    prefix = move_installed(compiled, placed.folder / "staging", ("bin", "lib"))
    assert sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*")) == ["bin", "bin/x", "lib"]
    assert b".symtab" not in (prefix / "bin/x").read_bytes()
