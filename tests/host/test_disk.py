import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.host import disk, sysfs
from tests.needs import needs


@pytest.fixture
def mounts(tmp_path, monkeypatch):
    def write(*lines):
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/self/mountinfo").write_text("\n".join(lines) + "\n")
        monkeypatch.setattr(sysfs, "ROOT", tmp_path)
        monkeypatch.setattr(disk, "existing", lambda path: path)

    return write


def test_the_longest_mount_point_and_the_last_one_there(mounts):
    mounts(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw",
        "2 1 8:2 / /mnt/da rw shared:1 master:2 - xfs /dev/sdb rw",
        "3 1 8:3 / /mnt/data\\040\\303\\251 rw - xfs /dev/sdc rw",
        "4 2 8:4 / /mnt/da rw,noatime - btrfs /dev/sdd rw",
    )
    found = disk.mount(Path("/mnt/da/x"))
    assert found == disk.Mount("/mnt/da", "8:4", "btrfs", "/dev/sdd", "rw,noatime")
    assert disk.mount(Path("/mnt/data/x")).number == "8:1"


def test_no_device_holds_a_file_system_in_memory():
    at = disk.mount(Path("/dev/shm"))
    if at is not None and at.filesystem == "tmpfs":
        assert disk.device(Path("/dev/shm")) is None


def test_the_nearest_parent_that_is_there(tmp_path):
    assert disk.existing(tmp_path / "a" / "b") == tmp_path


@pytest.mark.parametrize(("name", "kind"), [("nvme9n1", "nvme"), ("vdz", "virtual"), ("sdz", "unknown")])
def test_kinds_by_name(name, kind):
    assert disk.kind(name) == kind


# Power cuts

CUT = """
import json, os, sys
from pathlib import Path
from stepgrid.host.disk import cut_power, power_disk

def write(path, text, is_synced):
    with path.open("a") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno()) if is_synced else None

with power_disk(Path("data").absolute()) as data:
    data.mkdir()
    write(data / "log", "first ", is_synced=True)
    os.sync()
    write(data / "log", "second", is_synced=False)
    write(data / "table", "third", is_synced=False)
    cut_power(data)
    texts = {path.name: path.read_text() for path in data.iterdir()}
    write(data / "log", "fourth", is_synced=True)
    cut_power(data)
    mounts = Path("/proc/self/mounts").read_text()
    print(json.dumps([texts, (data / "log").read_text(), mounts.count(str(data.parent))]))
"""


@needs("power disks")
def test_a_power_cut_loses_what_was_not_synced_and_nothing_else(tmp_path):
    ran = subprocess.run([sys.executable, "-c", CUT], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert ran.returncode == 0, ran.stderr
    texts, log, mounts = json.loads(ran.stdout)
    assert texts["log"] == "first "
    assert not texts.get("table")
    assert (log, mounts) == ("first fourth", 1)
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text(), "its mounts are its own"
    assert not [*(tmp_path / "disk").iterdir()]


def environment():
    return {**os.environ, "PYTHONPATH": str(Path(disk.__file__).parents[2])}


@pytest.mark.parametrize(
    ("capabilities", "names", "reason"),
    [
        ("0000000000000000", ["loop-control"], "it needs root"),
        ("000001ffffffffff", [], "there is no /dev/loop-control, for a file system in a file"),
        ("000001ffffffffff", ["loop-control"], "there is no mkfs.ext4, install e2fsprogs"),
    ],
)
def test_what_a_host_lacks_for_power_cuts(tmp_path, monkeypatch, capabilities, names, reason):
    for folder in ("proc/self", "dev"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "proc/self/status").write_text(f"Name:\tx\nCapEff:\t{capabilities}\n")
    for name in names:
        (tmp_path / "dev" / name).touch()
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert disk.missing_for_power_cut() == reason
