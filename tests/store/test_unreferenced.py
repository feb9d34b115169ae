"""Entries of a store that no spec needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.store.store import Store
from stepgrid.store.trash import NeededNames, list_entries, unreferenced_entries

NOTHING = NeededNames((), (), ())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "outputs")


def put(store: Store, kind: str, name: str) -> Path:
    folder = store.root / kind / name
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("x" * 5000)
    return folder


def test_what_is_needed_is_not_listed(store: Store) -> None:
    for kind, name in (("results", "s-1"), ("results", "s-2"), ("attempts", "b-1"), ("plans", "p"), ("summary", "q")):
        put(store, kind, name)
    found = unreferenced_entries(list_entries(store), NeededNames({"p"}, {"b-1"}, {"s-1"}))
    assert [(each.kind, each.name) for each in found] == [("results", "s-2"), ("summary", "q")]
    assert all(each.bytes >= 5000 for each in found)


def test_an_empty_store_has_nothing(store: Store) -> None:
    assert list_entries(store) == []


def test_links_lead_nowhere_outside(store: Store, tmp_path: Path) -> None:
    outside = tmp_path / "precious"
    (outside / "s-1").mkdir(parents=True)
    put(store, "plans", "p")
    (store.root / "results").symlink_to(outside)
    (store.root / "plans" / "link").symlink_to(outside)
    assert [each.name for each in unreferenced_entries(list_entries(store), NOTHING)] == ["p"]


def test_what_an_import_left_is_not_listed(store: Store) -> None:
    for name in ("import", "import-legacy", ".hidden"):
        put(store, "attempts", name)
    assert list_entries(store) == []


def test_notes_of_stages_and_builds_are_unreferenced_like_them(store: Store) -> None:
    for path in (
        store.redo_request("s-1"),
        store.redo_request("s-2"),
        store.database_sizes("of-1"),
        store.database_sizes("of-2"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    for build in ("b-1", "b-2"):
        (store.records() / build).mkdir(parents=True)
    found = unreferenced_entries(list_entries(store), NeededNames((), {"b-1"}, {"s-1"}, {"of-1"}))
    assert [(each.kind, each.name) for each in found] == [("records", "b-2"), ("asked", "s-2"), ("learnt", "of-2")]
