"""The checksum of a tree: every copy has it, every change of what is in it is another."""

import hashlib
import os
import shutil
import time

import pytest

from stepgrid.language import files


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    (root / "a").mkdir(parents=True)
    (root / "a" / "b.c").write_text("int b;\n")
    (root / "a-b").write_text("x")
    (root / "run").write_text("#!/bin/sh\n")
    (root / "run").chmod(0o755)
    (root / "link").symlink_to("a/b.c")
    (root / "gone").symlink_to("nowhere")
    os.mkfifo(root / "pipe")
    return root


def repository(root):
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("x")


def linked_elsewhere(root):
    (root / "gone").unlink()
    (root / "gone").symlink_to("elsewhere")


def file_for_link(root):
    (root / "link").unlink()
    shutil.copy(root / "a" / "b.c", root / "link")


NO_CHANGE = {
    "a repository": repository,
    "a submodule's": lambda root: (root / "a" / ".git").write_text("gitdir: x"),
    "times": lambda root: os.utime(root / "run", (1, 1)),
    "what others may": lambda root: (root / "run").chmod(0o700),
}
CHANGES = {
    "a byte": lambda root: (root / "a" / "b.c").write_text("int c;\n"),
    "a name": lambda root: (root / "a" / "b.c").rename(root / "a" / "c.c"),
    "a folder's name": lambda root: (root / "a").rename(root / "b"),
    "executable": lambda root: (root / "run").chmod(0o644),
    "where a link leads": linked_elsewhere,
    "a link's content in its place": file_for_link,
    "an empty file more": lambda root: (root / "a" / "empty").touch(),
}


@pytest.mark.parametrize("edit", NO_CHANGE)
def test_what_is_no_content(edit, tree):
    before = files.tree_checksum(tree)
    NO_CHANGE[edit](tree)
    assert files.tree_checksum(tree) == before


@pytest.mark.parametrize("edit", CHANGES)
def test_what_is_content(edit, tree):
    later = time.time_ns() + 10**9
    before, mark = files.tree_checksum(tree), files.tree_mark(tree, later)
    CHANGES[edit](tree)
    assert files.tree_checksum(tree) != before
    assert files.tree_mark(tree, later) != mark


def test_a_copy_has_the_same(tree, tmp_path):
    (tree / "pipe").unlink()
    shutil.copytree(tree, tmp_path / "copy", symlinks=True)
    assert files.tree_checksum(tmp_path / "copy") == files.tree_checksum(tree)


def test_what_was_just_touched_has_no_stamp(tree):
    assert files.tree_mark(tree, time.time_ns() + 10**9) == files.tree_mark(tree, time.time_ns() + 2 * 10**9) != ""
    assert files.tree_mark(tree, time.time_ns()) == ""


LONG_AGO = (1_000_000_000, 1_000_000_000)


def settle():
    """Until the file system's clock has moved on."""
    time.sleep(files.SETTLED / 1e9 + 0.05)


def test_what_was_not_touched_is_not_read_again(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"one")
    settle()
    with files.record_inputs() as seen:
        found = files.checksum(str(path))
    mark, known = seen.inputs[str(path)]
    assert known == found
    with files.reuse_checksums({str(path): (mark, "as it was known")}):
        assert files.checksum(str(path)) == "as it was known"
        path.write_bytes(b"two")
        assert files.checksum(str(path)) == hashlib.sha256(b"two").hexdigest()
    assert files.is_unchanged(str(path), mark, hashlib.sha256(b"two").hexdigest())
    assert not files.is_unchanged(str(path), mark, known)


def test_what_was_touched_just_now_has_no_mark(tmp_path):
    (tmp_path / "x").write_bytes(b"one")
    os.utime(tmp_path / "x", LONG_AGO)  # which touches it
    with files.record_inputs() as seen:
        found = files.checksum(str(tmp_path / "x"))
    assert seen.inputs[str(tmp_path / "x")] == ("", found)
    assert files.is_unchanged(str(tmp_path / "x"), "", found)
