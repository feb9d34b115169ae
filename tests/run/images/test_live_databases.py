"""What a runner leaves that was killed when its result was there already."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.host.locks import host_lock, locked
from stepgrid.run.images import clear_up
from stepgrid.store.store import Store


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """An empty one is the last moment of a removal."""
    folder = Store(tmp_path / "outputs").live("s-1").with_name("s-1.4194304")
    folder.mkdir(parents=True)
    return folder


def test_it_goes(left: Path, tmp_path: Path) -> None:
    (left / "data").mkdir()
    (left / "data" / "000001.sst").write_text("x")
    clear_up(Store(tmp_path / "outputs"))
    assert not left.exists()


def test_not_that_of_an_owner_who_lives(left: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "outputs")
    with locked(store.lock("s-1")):
        clear_up(store)
    assert left.exists()


def test_not_while_somebody_measures(left: Path, tmp_path: Path) -> None:
    with host_lock(shared=False):
        clear_up(Store(tmp_path / "outputs"))
    assert left.exists()
