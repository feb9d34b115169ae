"""The bench of power cuts: what its model of a disk keeps, and that each call that it must see is seen."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import power_cut
from bench.power_cut_disk import EMPTY, LOST, Disk, Event
from tests.needs import needs


def states(*events):
    disk = Disk("/x")
    for event in events:
        disk.apply(Event(*event))
    return tuple(
        {path: "folder" if node is None else node.target or node.copy for path, node in disk.state(kind).items()}
        for kind in (LOST, EMPTY)
    )


def test_what_is_not_synced_is_lost_or_has_no_bytes():
    made = [("create", "/x/a"), ("mkdir", "/x/d"), ("create", "/x/d/b")]
    assert states(*made) == ({}, {"a": None, "d": "folder", "d/b": None})
    synced = [*made, ("sync", "/x/d/b", "1"), ("sync", "/x/d")]
    assert states(*synced) == ({}, {"a": None, "d": "folder", "d/b": "1"}), "the name of its folder is not synced"
    assert states(*synced, ("sync", "/x"))[0] == {"a": None, "d": "folder", "d/b": "1"}


def test_a_rename_is_whole_or_not_there():
    made = [("mkdir", "/x/d"), ("mkdir", "/x/e"), ("create", "/x/d/a"), ("sync", "/x/d"), ("sync", "/x")]
    moved = [*made, ("rename", "/x/d/a", "/x/e/b")]
    assert states(*moved)[0] == {"d": "folder", "d/a": None, "e": "folder"}
    for folder in ("/x/d", "/x/e"):
        assert states(*moved, ("sync", folder))[0] == {"d": "folder", "e": "folder", "e/b": None}


def test_a_file_that_replaces_another_keeps_the_old_bytes_until_its_name_is_synced():
    old = [("create", "/x/a"), ("sync", "/x/a", "old"), ("sync", "/x")]
    new = [*old, ("create", "/x/.a"), ("sync", "/x/.a", "new"), ("rename", "/x/.a", "/x/a")]
    assert states(*new) == ({"a": "old"}, {"a": "new"})
    assert states(*new, ("sync", "/x"))[0] == {"a": "new"}
    assert states(*old, ("truncate", "/x/a")) == ({"a": "old"}, {"a": None})
    assert states(*old, ("remove", "/x/a")) == ({"a": "old"}, {})
    assert states(*old, ("link", "/x/a", "/x/b"), ("symlink", "/x/c", "a"))[1] == {"a": "old", "b": "old", "c": "a"}


CALLS = """
import os, shutil, tempfile
os.makedirs("d/e"); open("d/a", "w").write("text"); os.symlink("a", "d/l"); os.link("d/a", "d/h")
os.rename("d/a", "d/b"); os.replace("d/b", "d/c")
file = os.open("d/c", os.O_RDONLY); os.fsync(file); folder = os.open("d", os.O_RDONLY); os.fsync(folder)
open("d/c", "w"); os.close(os.open("new", os.O_WRONLY | os.O_CREAT, dir_fd=folder)); os.unlink("d/h")
shutil.rmtree("d/e")
"""


@needs("cc")
def test_each_call_is_seen(tmp_path):
    shim, work, log = power_cut.shim(tmp_path), tmp_path / "run", tmp_path / "log"
    work.mkdir()
    subprocess.run(
        [sys.executable, "-c", CALLS], cwd=work, env=os.environ | power_cut.recorded(tmp_path, shim), check=True
    )
    found = [(event.what, Path(event.path).name, Path(event.more).name) for event in power_cut.events(log)]
    assert found == [
        ("mkdir", "d", ""), ("mkdir", "e", ""), ("create", "a", ""), ("symlink", "l", "a"), ("link", "a", "h"),
        ("rename", "a", "b"), ("rename", "b", "c"), ("sync", "c", found[7][2]), ("sync", "d", ""),
        ("truncate", "c", ""), ("create", "new", ""), ("remove", "h", ""), ("remove", "e", ""),
    ]  # fmt: skip
    assert (tmp_path / "copies" / found[7][2]).read_text() == "text"


def test_promised_results_are_those_whose_name_is_synced():
    publish = [Event("rename", "/x/outputs/attempts/s-1/t", "/x/outputs/results/s-1/t")]
    assert power_cut.promised(publish, "/x") == set()
    assert power_cut.promised([*publish, Event("sync", "/x/outputs/results/s-1")], "/x") == {"s-1/t"}


@pytest.mark.parametrize("kind", [LOST, EMPTY])
def test_a_state_is_written_as_files(tmp_path, kind):
    from bench.power_cut_disk import write

    (tmp_path / "copies").mkdir()
    (tmp_path / "copies" / "1").write_text("text")
    (tmp_path / "new").mkdir()
    disk = Disk("/x")
    made = (("mkdir", "/x/d"), ("create", "/x/d/a"), ("symlink", "/x/d/l", "a"), ("create", "/x/d/b"))
    for event in (*made, ("sync", "/x/d/a", "1"), ("sync", "/x/d"), ("sync", "/x")):
        disk.apply(Event(*event))
    write(disk.state(kind), tmp_path / "copies", tmp_path / "new")
    assert (tmp_path / "new" / "d" / "l").read_text() == "text"
    assert (tmp_path / "new" / "d" / "b").read_bytes() == b""
