from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Artifact, load_source, source_of
from stepgrid.language.files import tree_checksum
from tests.build.ordering import order

SCRIPT = "#!/bin/sh\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder on PATH with a family of programs."""
    (tmp_path / "bin").mkdir()
    for name in ("server", "client"):
        (tmp_path / "bin" / name).write_text(SCRIPT)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def obtain(folder, given, *programs):
    source = {"system": given}
    return load_source("system").fetch(source, folder, order(folder, source, *programs))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("none", "`system: none`: no program none on PATH; install it, or give its absolute path"),
        ("/none/x", "`system: /none/x`: there is no program /none/x, or it is not executable"),
        ("./x", "`system: ./x` is neither a program's name nor an absolute path"),
    ],
)
def test_what_is_not_there(folder, given, message):
    with pytest.raises(BuildError) as caught:
        obtain(folder, given, "x")
    assert str(caught.value) == message


@pytest.fixture
def tree(tmp_path):
    made = tmp_path / "mine"
    (made / ".git").mkdir(parents=True)
    (made / "src").mkdir()
    (made / "src" / "main.c").write_text("int main;\n")
    (made / "run").write_text("#!/bin/sh\n")
    (made / "run").chmod(0o755)
    (made / "link").symlink_to("src/main.c")
    return made


def path_obtain(tmp_path, tree, held=""):
    source = {"path": str(tree)}
    asked = order(tmp_path / "attempt", source, pins={f"path {tree}": held} if held else {})
    return source_of(source).fetch(source, tmp_path / "attempt", asked)


def test_a_copy_without_its_history(tmp_path, tree):
    material = path_obtain(tmp_path, tree, tree_checksum(tree))
    copy = tmp_path / "attempt" / "tree"
    assert material.tree == copy
    assert sorted(path.name for path in copy.iterdir()) == ["link", "run", "src"]
    assert (copy / "link").readlink() == Path("src/main.c")
    assert (copy / "run").stat().st_mode & 0o777 == 0o755
    assert (copy / "run").stat().st_mtime_ns == (tree / "run").stat().st_mtime_ns
    assert material.artifacts == (Artifact(str(tree), "", tree_checksum(tree)),)
    (copy / "src" / "main.c").write_text("changed\n")
    assert (tree / "src" / "main.c").read_text() == "int main;\n"


def test_one_that_changed_after_it_was_planned(tmp_path, tree):
    held = tree_checksum(tree)
    (tree / "src" / "main.c").write_text("other\n")
    with pytest.raises(BuildError) as caught:
        path_obtain(tmp_path, tree, held)
    assert str(caught.value) == f"{tree} changed after the spec was compiled: run the same command again"


def test_one_that_is_not_there(tmp_path):
    with pytest.raises(BuildError) as caught:
        path_obtain(tmp_path, tmp_path / "none", "not found")
    assert str(caught.value) == f"`path: {tmp_path / 'none'}`: there is no such folder"


def test_one_that_holds_the_builds(tmp_path):
    with pytest.raises(BuildError) as caught:
        path_obtain(tmp_path, tmp_path)
    expected = f"`path: {tmp_path}` holds the folder that builds are made in: "
    expected += "give the tree a folder of its own, or name its `files`"
    assert str(caught.value) == expected
