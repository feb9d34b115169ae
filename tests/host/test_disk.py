from pathlib import Path

import pytest

from stepgrid.host import disk, sysfs


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
