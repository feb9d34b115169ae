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


UNMOUNTED = """
import ctypes, os, subprocess
from pathlib import Path
from stepgrid.host.disk import NEW_MOUNTS, cut_power, power_disk
from stepgrid.host.failure import StageError

def run(*argv):
    subprocess.run(argv, check=True)

def refused(act):
    try:
        act()
    except StageError as error:
        print(error)

def stage():
    with power_disk(Path("data").absolute()) as data:
        assert os.stat(data.parent).st_dev != outer
        run("umount", "--lazy", str(data.parent))
        OTHER
        assert data.parent.is_mount() == IS_MOUNTED
        assert os.major(os.stat(data.parent).st_dev) == 7, "never the file system of the host"
        refused(lambda: cut_power(data))

assert ctypes.CDLL(None).unshare(NEW_MOUNTS) == 0
run("mount", "--make-rprivate", "/")
with open("outer.ext4", "xb") as file:
    file.truncate(256 << 20)
run("mkfs.ext4", "-q", "-F", "outer.ext4")
Path("outer").mkdir()
run("mount", "-o", "loop", "outer.ext4", "outer")
outer = os.stat("outer").st_dev
assert os.major(outer) == 7, "what would be lost is a loop device"
os.chdir("outer")
refused(stage)
with open("alive", "w") as file:  # EIO where it was shut down
    file.write("yes")
    os.fsync(file.fileno())
os.chdir("..")
run("umount", "outer")
"""


@needs("power disks")
@pytest.mark.parametrize(("is_mounted", "other"), [(False, "pass"), (True, "run('mount', '--bind', '.', data.parent)")])
def test_power_is_cut_of_no_disk_but_the_mounted_one(tmp_path, is_mounted, other):
    """The program has unmounted it: what lies below, or is mounted in its place, is the file system of outputs/."""
    script = UNMOUNTED.replace("OTHER", other).replace("IS_MOUNTED", str(is_mounted))
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, env=environment()
    )
    assert ran.returncode == 0, ran.stderr
    sentence = (
        f"the disk whose power is to be cut is not mounted at {tmp_path}/outer/disk any more: a program of the stage "
        "unmounted it, or mounted another one; the file system that is there was left alone"
    )
    assert ran.stdout.splitlines() == [sentence, sentence]


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
