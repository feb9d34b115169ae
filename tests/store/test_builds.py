"""Which builds a store knows: those that are there, and those that were tried."""

from __future__ import annotations

from pathlib import Path

from compiler.store import builds
from compiler.store.durable import make_folder, write_json
from compiler.store.store import Store


def test_those_that_are_there_and_those_that_were_tried(tmp_path: Path) -> None:
    store = Store(tmp_path / "outputs")
    assert builds.ids(store) == []
    make_folder(store.build("b-made"))
    store.new_attempt("b-tried")
    store.new_attempt("s-1")
    make_folder(store.attempts_of("b-gone"))  # a folder without an attempt: all of them were cleared away
    assert builds.ids(store) == ["b-made", "b-tried"]


def test_what_became_of_each(tmp_path: Path) -> None:
    store = Store(tmp_path / "outputs")
    make_folder(store.build("b-made"))
    write_json(store.build("b-made") / "build.json", {"id": "b-made", "version": "9.10.0"})
    write_json(store.new_attempt("b-tried") / "failure.json", {"status": "failed", "message": "no compiler"})
    made, tried, nothing = (builds.kept(store, name) for name in ("b-made", "b-tried", "b-never"))
    assert (made.state, made.record["version"]) == (builds.BUILT, "9.10.0")
    assert (tried.state, tried.why) == (builds.FAILED, "no compiler")
    assert nothing.state == builds.NOT_BUILT
