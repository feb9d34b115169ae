"""What images take, and what goes with one."""

import os
from pathlib import Path

import pytest

from stepgrid.host.files import write_json
from stepgrid.host.locks import LockBusy
from stepgrid.store import images
from stepgrid.store.paths import folder_bytes
from stepgrid.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "outputs")


def image(store: Store, stage: str, files: dict[str, int], used: float, **more: object) -> Path:
    staged = store.new_image(stage)
    (staged / "data").mkdir()
    for name, size in files.items():
        (staged / "data" / name).write_bytes(b"x" * size)
    write_json(staged / "image.json", {"stage": stage, **more})
    os.utime(staged / "image.json", (used, used))
    store.publish_image(stage, staged)
    return store.image(stage)


def test_what_is_shared_is_not_its_own_and_counts_once(store: Store) -> None:
    one = image(store, "s-1", {"a.sst": 8192, "b": 4096}, 1.0)
    two = image(store, "s-2", {}, 2.0)
    os.link(one / "data" / "a.sst", two / "data" / "a.sst")
    found = {each.stage: each for each in images.list_images(store)}
    assert found["s-1"].bytes - found["s-1"].unshared == 8192
    assert found["s-2"].bytes - found["s-2"].unshared == 8192
    assert folder_bytes(one, two) == found["s-1"].bytes + found["s-2"].unshared


def test_one_that_is_held_is_not_evicted(store: Store) -> None:
    image(store, "s-1", {"a": 1}, 1.0)
    with images.hold_image(store, "s-1"), pytest.raises(LockBusy):
        images.evict_image(store, "s-9", "s-1")
    images.evict_image(store, "s-9", "s-1")
    assert list(store.image("_").parent.iterdir()) == []
    assert not list(store.lock("_").parent.glob("image-*"))
