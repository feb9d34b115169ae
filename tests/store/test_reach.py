"""What no plan comes to, and its removal."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.store.lock import Busy, locked
from compiler.store.reach import Reached, remove, unreached
from compiler.store.store import Store

NOTHING = Reached((), (), ())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "outputs")


def put(store: Store, kind: str, name: str) -> Path:
    folder = store.root / kind / name
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("x" * 5000)
    return folder


def test_what_is_reached_is_not_listed(store: Store) -> None:
    for kind, name in (("results", "s-1"), ("results", "s-2"), ("attempts", "b-1"), ("plans", "p"), ("summary", "q")):
        put(store, kind, name)
    found = unreached(store, Reached({"p"}, {"b-1"}, {"s-1"}))
    assert [(each.kind, each.name) for each in found] == [("results", "s-2"), ("summary", "q")]
    assert all(each.bytes >= 5000 for each in found)


def test_an_empty_store_has_nothing(store: Store) -> None:
    assert unreached(store, NOTHING) == []


def test_removal_takes_the_mark_and_leaves_the_rest(store: Store) -> None:
    gone, stays = put(store, "results", "s-1"), put(store, "results", "s-2")
    for folder in (gone, stays):
        store.set_mark(folder.name, folder / "inner")
    assert list(remove(store, unreached(store, Reached((), (), {"s-2"})))) == []
    assert not gone.exists()
    assert not store.mark("s-1").is_symlink()
    assert stays.is_dir()
    assert store.mark("s-2").exists()
    assert [path.name for path in (store.root / "results").iterdir()] == ["s-2"]


def test_nothing_is_removed_while_a_run_is_active(store: Store) -> None:
    folder = put(store, "results", "s-1")
    with locked(store.lock("run")), pytest.raises(Busy):
        list(remove(store, unreached(store, NOTHING)))
    assert folder.is_dir()


def test_what_a_job_uses_is_left_and_named(store: Store) -> None:
    folder = put(store, "images", "s-1")
    other = put(store, "images", "s-2")
    with locked(store.lock("s-1")):
        assert [each.folder for each in remove(store, unreached(store, NOTHING))] == [folder]
    assert folder.is_dir()
    assert not other.exists()


def test_links_lead_nowhere_outside(store: Store, tmp_path: Path) -> None:
    outside = tmp_path / "precious"
    (outside / "s-1").mkdir(parents=True)
    put(store, "plans", "p")
    (store.root / "results").symlink_to(outside)
    (store.root / "plans" / "link").symlink_to(outside)
    found = unreached(store, NOTHING)
    assert [each.name for each in found] == ["p"]
    assert list(remove(store, found)) == []
    assert (outside / "s-1").is_dir()


def test_links_inside_what_is_removed_are_not_followed(store: Store, tmp_path: Path) -> None:
    outside = tmp_path / "precious"
    outside.mkdir()
    (outside / "file").write_text("x")
    (put(store, "builds", "b-1") / "link").symlink_to(outside)
    assert list(remove(store, unreached(store, NOTHING))) == []
    assert (outside / "file").read_text() == "x"


def test_what_is_noted_of_stages_and_builds_goes_with_them(store: Store) -> None:
    for path in (store.asked("s-1"), store.asked("s-2"), store.learnt("of-1"), store.learnt("of-2")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    for build in ("b-1", "b-2"):
        (store.records() / build).mkdir(parents=True)
    found = unreached(store, Reached((), {"b-1"}, {"s-1"}, {"of-1"}))
    assert [(each.kind, each.name) for each in found] == [("records", "b-2"), ("asked", "s-2"), ("learnt", "of-2")]
    assert list(remove(store, found)) == []
    assert sorted(path.name for path in store.root.rglob("*-[12]*")) == ["b-1", "of-1.json", "s-1.json"]
