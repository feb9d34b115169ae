"""Entries that no spec needs; they go to the trash and come back by rename, until it is emptied."""

import os
import signal

import pytest

from stepgrid.host.locks import LockBusy, locked
from stepgrid.store.store import Store
from stepgrid_inspect import disk
from stepgrid_inspect.disk import NeededNames, UnmovedPath, list_entries, unreferenced_entries


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "outputs")


def put(store, kind, name):
    folder = store.root / kind / name
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("x" * 5000)
    return folder


def test_what_is_needed_is_not_listed(store):
    for kind, name in (("results", "s-1"), ("results", "s-2"), ("attempts", "b-1"), ("plans", "p"), ("summary", "q")):
        put(store, kind, name)
    found = unreferenced_entries(list_entries(store), NeededNames({"p"}, {"b-1"}, {"s-1"}))
    assert [(each.kind, each.name) for each in found] == [("results", "s-2"), ("summary", "q")]
    assert all(each.bytes >= 5000 for each in found)


def test_links_lead_nowhere_outside(store, tmp_path):
    outside = tmp_path / "precious"
    (outside / "s-1").mkdir(parents=True)
    put(store, "plans", "p")
    (store.root / "results").symlink_to(outside)
    (store.root / "plans" / "link").symlink_to(outside)
    assert [each.name for each in unreferenced_entries(list_entries(store), NOTHING)] == ["p"]


def test_notes_of_stages_and_builds_are_unreferenced_like_them(store):
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


NOTHING = NeededNames((), (), ())


def moved(store, needed=NOTHING):
    return disk.move_to_trash(store, unreferenced_entries(list_entries(store), needed))


def tree(folder):
    """Files that are somebody's: no locks, and no folders that are empty."""
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(path) for path in files if path.parts[0] != "locks")


def fill(store):
    for kind in ("results", "attempts", "images", "plans", "summary"):
        put(store, kind, f"s-{kind}")
    put(store, "builds", "b-1")
    put(store, "builds/.records", "b-2")
    store.redo_request("s-1").parent.mkdir()
    store.redo_request("s-1").write_text("{}")
    return tree(store.root)


def test_all_of_it_comes_back(store):
    before = fill(store)
    assert moved(store) == []
    gone = tree(store.root)
    assert len(gone) == len(before)
    assert {path.split("/")[0] for path in gone} == {"trash"}
    assert list_entries(store) == []
    assert disk.trash_size(store)[0] == len(before)
    assert disk.restore_trash(store) == (len(before), [])
    assert tree(store.root) == before
    assert not (store.root / "trash").exists()


def test_the_mark_goes_and_the_rest_stays(store):
    gone, stays = put(store, "results", "s-1"), put(store, "results", "s-2")
    for folder in (gone, stays):
        store.set_mark(folder.name, folder / "inner")
    assert moved(store, NeededNames((), (), {"s-2"})) == []
    assert not gone.exists()
    assert not store.mark("s-1").is_symlink()
    assert stays.is_dir()
    assert store.mark("s-2").exists()


def test_results_join_those_that_were_measured_since(store):
    put(store, "results/s-1", "20260101T000000.000000Z")
    moved(store)
    put(store, "results/s-1", "20260102T000000.000000Z")
    assert disk.restore_trash(store) == (1, [])
    there = [path.name for path in (store.root / "results" / "s-1").iterdir()]
    assert sorted(there) == ["20260101T000000.000000Z", "20260102T000000.000000Z"]


def test_nothing_that_was_made_since_is_replaced(store):
    old = put(store, "builds", "b-1")
    (old / "inner" / "file").write_text("old")
    moved(store)
    put(store, "builds", "b-1")
    number, left = disk.restore_trash(store)
    assert (number, [each.why for each in left]) == (0, [f"{old} is there already"])
    assert (old / "inner" / "file").read_text() != "old"
    assert (left[0].path / "inner" / "file").read_text() == "old"


def test_of_two_the_newer_comes_back(store):
    for text in ("old", "new"):
        file = put(store, "builds", "b-1") / "inner" / "file"
        file.write_text(text)
        moved(store)
    number, left = disk.restore_trash(store)
    assert (number, len(left)) == (1, 1)
    assert file.read_text() == "new"


def test_emptying_deletes_and_counts(store):
    fill(store)
    moved(store)
    held = disk.trash_size(store)[1]
    assert held >= 5000 * 7
    assert disk.empty_trash(store) == held
    assert disk.trash_size(store) == (0, 0)
    assert disk.restore_trash(store) == (0, [])
    assert disk.empty_trash(store) == 0


def test_an_interrupted_emptying_restores_nothing_in_part(store):
    fill(store)
    moved(store)
    (batch,) = (store.root / "trash").iterdir()
    batch.rename(batch.with_name(f".{batch.name}"))  # what `empty` does first
    assert disk.restore_trash(store) == (0, [])
    assert disk.empty_trash(store) > 0
    assert not (store.root / "trash").exists()


def test_images_stay_on_their_file_system(tmp_path):
    store = Store(tmp_path / "outputs", tmp_path / "fast")
    store.image("s-1").mkdir(parents=True)
    (store.image("s-1") / "file").write_text("x" * 5000)
    assert moved(store) == []
    assert [path.parts[-3:-2] for path in (store.data / "trash").rglob("file")] == [("images",)]
    assert disk.restore_trash(store) == (1, [])
    assert (store.image("s-1") / "file").is_file()


def test_what_a_job_uses_is_left_and_named(store):
    folder, other = put(store, "images", "s-1"), put(store, "images", "s-2")
    with locked(store.lock("s-1")):
        assert moved(store) == [UnmovedPath(folder, "it is in use")]
    assert folder.is_dir()
    assert not other.exists()


@pytest.mark.parametrize("held", ["run", "import", "import-legacy", "trash"])
def test_it_is_alone(held, store):
    with locked(store.lock(held)), pytest.raises(LockBusy), disk.lock_trash(store):
        pass
    with disk.lock_trash(store):
        pass


def test_a_trash_that_is_a_link_is_not_used(store, tmp_path):
    folder = put(store, "results", "s-1")
    (tmp_path / "elsewhere" / "precious" / "results" / "s-2").mkdir(parents=True)
    (store.root / "trash").symlink_to(tmp_path / "elsewhere")
    assert moved(store) == [UnmovedPath(folder, f"{store.root / 'trash'} is a link")]
    assert (disk.restore_trash(store), disk.empty_trash(store)) == ((0, []), 0)
    assert (tmp_path / "elsewhere" / "precious" / "results" / "s-2").is_dir()


def test_links_inside_are_not_followed(store, tmp_path):
    outside = tmp_path / "precious"
    outside.mkdir()
    (outside / "file").write_text("x")
    (put(store, "builds", "b-1") / "link").symlink_to(outside)
    moved(store)
    disk.empty_trash(store)
    assert (outside / "file").read_text() == "x"


@pytest.mark.parametrize("change", [moved, disk.restore_trash])
def test_a_kill_at_any_rename_loses_nothing(change, tmp_path):
    for renames in range(20):
        store = Store(tmp_path / str(renames) / "outputs")
        before = fill(store)
        if change is disk.restore_trash:
            moved(store)
        survived = _killed_after(renames, lambda store=store: change(store))
        disk.restore_trash(store)
        assert tree(store.root) == before
        if survived:
            break
    assert survived
    assert renames == len(before)


def _killed_after(renames, change):
    """Whether it came to its end before that."""
    if not (child := os.fork()):
        rename, done = os.rename, 0

        def counting(*paths):
            nonlocal done
            if done == renames:
                os.kill(os.getpid(), signal.SIGKILL)
            rename(*paths)
            done += 1

        os.rename = counting
        change()
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0
