"""Which builds a store knows: those that are there, and those that were tried."""

from __future__ import annotations

from pathlib import Path

from stepgrid.host.files import make_folder, write_json
from stepgrid.model.status import Status
from stepgrid.store import builds
from stepgrid.store.store import Store


def test_those_that_are_there_and_those_that_were_tried(tmp_path: Path) -> None:
    store = Store(tmp_path / "outputs")
    assert builds.build_ids(store) == []
    make_folder(store.build("b-made"))
    store.new_attempt("b-tried")
    store.new_attempt("s-1")
    make_folder(store.attempts_of("b-gone"))  # a folder without an attempt: all of them were cleared away
    assert builds.build_ids(store) == ["b-made", "b-tried"]


def test_what_became_of_each(tmp_path: Path) -> None:
    store = Store(tmp_path / "outputs")
    make_folder(store.build("b-made"))
    write_json(store.build("b-made") / "build.json", {"id": "b-made", "version": "9.10.0"})
    write_json(store.new_attempt("b-tried") / "failure.json", {"status": "failed", "message": "no compiler"})
    made, tried, nothing = (builds.read_build(store, name) for name in ("b-made", "b-tried", "b-never"))
    assert (made.status, made.record["version"]) == (Status.DONE, "9.10.0")
    assert (tried.status, tried.why) == (Status.FAILED, "no compiler")
    assert nothing.status is Status.MISSING


def test_what_a_build_was_made_of(tmp_path: Path) -> None:
    store = Store(tmp_path / "outputs")
    record = {"artifacts": [{"name": "a", "version": "1", "digest": "5ec0ffee"}, {"digest": "0ddba11a"}]}
    for folder in (store.build("b-here"), store.records() / "b-there", store.build("b-damaged")):
        make_folder(folder)
        write_json(folder / "build.json", record if folder.name != "b-damaged" else {"artifacts": 1})
    assert builds.existing_build(store, "b-here") == ({"5ec0ffee", "0ddba11a"}, True)
    assert builds.existing_build(store, "b-there") == ({"5ec0ffee", "0ddba11a"}, False)
    assert builds.existing_build(store, "b-damaged") == (frozenset(), True)
    assert builds.existing_build(store, "b-never") is None
