"""What a source is called, whether it moves, and what of this machine holds it still."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from stepgrid.build import pins
from stepgrid.language import sources
from stepgrid.language.files import TreeRecord, record_inputs, tree_checksum

COMMIT = "5ec0ffee" * 5
JAR = {"maven": "org.rocksdb:rocksdbjni:9.9.3", "classifier": "linux64"}
GIT = {"git": "https://example.org/r.git", "ref": "v9.9.3"}


@pytest.mark.parametrize(
    ("source", "key"),
    [
        (GIT, "git https://example.org/r.git v9.9.3"),
        ({"submodules": "true", **dict(reversed(GIT.items()))}, "git https://example.org/r.git v9.9.3"),
        (JAR, "maven org.rocksdb:rocksdbjni:9.9.3 linux64"),
        ({**JAR, "tree": GIT}, "maven org.rocksdb:rocksdbjni:9.9.3 linux64"),
        ({"sha256": "5e", "version": "1.0", "crate": "x"}, "crate x 1.0"),
        ({"debian": ["a", "b"], "suite": "sid"}, "debian a,b sid"),
        ({"path": "trees/r"}, "path trees/r"),
    ],
)
def test_the_name_in_a_lock_file(source: dict[str, Any], key: str) -> None:
    assert sources.source_key(source) == key


@pytest.mark.parametrize(
    ("source", "moves"),
    [
        (GIT, True),
        ({**GIT, "ref": COMMIT[:8]}, True),
        ({**GIT, "ref": COMMIT}, False),
        (JAR, True),
        ({**JAR, "sha256": "5ec0ffee" * 8}, False),
        ({"debian": "rocksdb-tools", "suite": "sid"}, False),
        ({"path": "x"}, False),
        ({"system": "x"}, False),
        ({"tarball": "https://example.org/x.tar.gz", "sha256": "5ec0ffee" * 8}, False),
    ],
)
def test_what_moves(source: dict[str, Any], moves: bool) -> None:
    assert sources.can_move(source) is moves


def test_a_source_and_what_it_takes_along() -> None:
    assert list(sources.source_parts({**JAR, "tree": GIT})) == [{**JAR, "tree": GIT}, GIT]


def test_a_tree_is_its_content_and_is_witnessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.c").write_text("one")
    with record_inputs() as seen:
        held = pins.pin({"path": str(tmp_path)})
    assert held == tree_checksum(tmp_path)
    assert seen.trees == [TreeRecord(str(tmp_path), (), "", held)]  # just written: not to be told by its times
    assert pins.is_same_tree(seen.trees[0])
    (tmp_path / "a.c").write_text("two")
    assert not pins.is_same_tree(seen.trees[0])


def test_nothing_is_read_of_a_tree_that_was_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.c").write_text("one")
    now = time.time_ns() + 10**9
    monkeypatch.setattr(time, "time_ns", lambda: now)
    with record_inputs() as seen:
        pins.pin({"path": str(tmp_path)})
    monkeypatch.setattr(pins, "tree_checksum", lambda *_: pytest.fail("it was read"))
    assert pins.is_same_tree(seen.trees[0])


def test_a_tree_that_is_not_there(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    with record_inputs() as seen:
        assert pins.pin({"path": path}) == pins.MISSING
    assert pins.is_same_tree(seen.trees[0])
    (tmp_path / "x").mkdir()
    assert not pins.is_same_tree(seen.trees[0])
