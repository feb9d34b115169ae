from __future__ import annotations

import time
from pathlib import Path

import pytest

from stepgrid.drivers.quiesce.device import Device
from stepgrid.host import sysfs

ZEROS = "0 0 0 0 0 0"


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    stat = tmp_path / "sys/class/block/sdx/stat"
    stat.parent.mkdir(parents=True)
    return stat


def count(stat: Path, sectors: int, busy: int) -> None:
    stat.write_text(f"0 0 0 0 0 0 {sectors} 0 0 {busy} 0\n")


def test_what_it_did_since_the_last_look(disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([10.0, 12.0, 14.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    count(disk, 1000, 500)
    device = Device(tmp_path, "sdx", 5.0, 2**20)
    count(disk, 9192, 600)
    busy, writes = device.seen()
    assert (busy.what, busy.value, busy.idle) == ("device busy", 5.0, True)
    assert (writes.what, writes.value, writes.unit, writes.idle) == ("device writes", 2**21, "B/s", False)
    count(disk, 9192, 2700)
    assert [(seen.value, seen.idle) for seen in device.seen()] == [(100.0, False), (0, True)]


def test_without_a_device_there_is_nothing_to_see(disk: Path, tmp_path: Path) -> None:
    assert Device(tmp_path, None, 5.0, 0).seen() == ()


def test_what_a_server_elsewhere_is_on_is_nothing_to_see(disk: Path) -> None:
    assert Device(None, None, 5.0, 0).name is None
    count(disk, 0, 0)
    assert Device(None, "sdx", 5.0, 0).name == "sdx"
