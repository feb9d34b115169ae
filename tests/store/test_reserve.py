from __future__ import annotations

import os
from pathlib import Path

import pytest

from stepgrid.store import active_run, paths
from stepgrid.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "outputs")


def test_it_is_set_aside_and_released(store: Store) -> None:
    active_run.keep_reserve(store)
    path = store.lock(paths.RESERVE)
    assert path.stat().st_blocks * 512 >= path.stat().st_size > 0
    assert path.stat().st_size <= active_run.LARGEST_RESERVE
    before = path.stat().st_ino
    active_run.keep_reserve(store)
    assert path.stat().st_ino == before
    assert active_run.release_reserve(store)
    assert not path.exists()
    assert not active_run.release_reserve(store)


def test_a_small_disk_gives_little(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, 1000, 900, 900, 0, 0, 0, 0, 255)))
    active_run.keep_reserve(store)
    assert store.lock(paths.RESERVE).stat().st_size == 4096 * 10


def test_a_nearly_full_disk_gives_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, 1000, 90, 90, 0, 0, 0, 0, 255)))
    active_run.keep_reserve(store)
    assert not store.lock(paths.RESERVE).exists()


def test_what_cannot_be_set_aside_is_not_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "posix_fallocate", refused)
    active_run.keep_reserve(store)
    assert not store.lock(paths.RESERVE).exists()
