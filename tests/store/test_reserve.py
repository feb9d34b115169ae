from __future__ import annotations

import os
from pathlib import Path

import pytest

from stepgrid.store import reserve
from stepgrid.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "outputs")


def test_it_is_set_aside_and_released(store: Store) -> None:
    reserve.keep(store)
    path = store.lock(reserve.NAME)
    assert path.stat().st_blocks * 512 >= path.stat().st_size > 0
    assert path.stat().st_size <= reserve.MOST
    before = path.stat().st_ino
    reserve.keep(store)
    assert path.stat().st_ino == before
    assert reserve.release(store)
    assert not path.exists()
    assert not reserve.release(store)


def test_a_small_disk_gives_little(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, 1000, 900, 900, 0, 0, 0, 0, 255)))
    reserve.keep(store)
    assert store.lock(reserve.NAME).stat().st_size == 4096 * 10


def test_a_nearly_full_disk_gives_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, 1000, 90, 90, 0, 0, 0, 0, 255)))
    reserve.keep(store)
    assert not store.lock(reserve.NAME).exists()


def test_what_cannot_be_set_aside_is_not_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "posix_fallocate", refused)
    reserve.keep(store)
    assert not store.lock(reserve.NAME).exists()
