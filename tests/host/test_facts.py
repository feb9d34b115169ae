"""This host as it is, and hosts that are not here, from trees of /proc and /sys."""

import os
import time
from pathlib import Path

import pytest

from stepgrid.host import disk as disk_module
from stepgrid.host import facts, sysfs


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A server with two sockets, SMT, and a RAID of two NVMe partitions."""

    def put(path, text=""):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    put("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9454P  48-Core\nmicrocode\t: 0xa101148\n")
    put("proc/meminfo", "MemTotal:       131757000 kB\nMemFree: 1 kB\nSwapTotal:       4194304 kB\n")
    put(
        "proc/self/mountinfo",
        "1 0 259:9 / / rw - ext4 /dev/x rw\n2 1 9:2 / /data\\040here rw,noatime - xfs /dev/md2 rw\n",
    )
    for cpu in range(8):
        topology = f"sys/devices/system/cpu/cpu{cpu}/topology"
        put(f"{topology}/physical_package_id", f"{cpu % 4 // 2}\n")
        put(f"{topology}/core_cpus_list", f"{cpu % 4},{cpu % 4 + 4}\n")
    put("sys/devices/system/cpu/cpufreq/boost", "1\n")
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n")
    put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
    for name in ("node0", "node1", "possible"):
        put(f"sys/devices/system/node/{name}/x")
    for disk in ("nvme0n1", "nvme1n1"):
        put(f"sys/devices/pci/{disk}/queue/rotational", "0\n")
        put(f"sys/devices/pci/{disk}/{disk}p3/partition", "3\n")
        _link(tmp_path, f"sys/class/block/{disk}", f"sys/devices/pci/{disk}")
        _link(tmp_path, f"sys/class/block/{disk}p3", f"sys/devices/pci/{disk}/{disk}p3")
        _link(tmp_path, f"sys/devices/virtual/md2/slaves/{disk}p3", f"sys/devices/pci/{disk}/{disk}p3")
    put("sys/devices/virtual/md2/queue/max_sectors_kb", "128\n")
    put("sys/devices/virtual/md2/queue/scheduler", "[none] mq-deadline\n")
    _link(tmp_path, "sys/class/block/md2", "sys/devices/virtual/md2")
    _link(tmp_path, "sys/dev/block/9:2", "sys/devices/virtual/md2")
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    monkeypatch.setattr(disk_module, "existing", lambda path: path)
    return tmp_path


def _link(root, name, target):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).symlink_to(root / target)


def test_hardware_of_a_server(elsewhere, monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert facts.hardware(Path("/data here/outputs")) == {
        "cpu": "AMD EPYC 9454P  48-Core",
        "sockets": 2,
        "cores": 4,
        "threads": 8,
        "smt": True,
        "memory": 126 << 30,
        "architecture": "x86_64",
        "storage": {"device": "md2", "kind": "nvme", "filesystem": "xfs", "max_sectors_kb": 128},
    }


def test_facts_of_a_server(elsewhere):
    found = facts.facts(Path("/data here"))
    assert found["microcode"] == "0xa101148"
    assert found["governor"] == "performance"
    assert found["turbo"] is True
    assert found["transparent_hugepages"] == "madvise"
    assert found["numa_nodes"] == 2
    assert found["swap_bytes"] == 4 << 30
    assert found["mount_options"] == "rw,noatime"
    assert found["scheduler"] == "none"
    assert found["devices"] == ["md2", "nvme0n1", "nvme1n1"]
    assert "uptime" not in found
    assert "load_average" not in found
    assert "os" not in found


def test_what_cannot_be_read_is_absent(tmp_path, monkeypatch):
    monkeypatch.setattr(sysfs, "ROOT", tmp_path / "empty")
    found = facts.hardware(tmp_path)
    assert set(found) == {"threads", "architecture", "storage"}
    assert found["storage"] == {"kind": "unknown"}


def test_this_host(tmp_path):
    found = facts.hardware(tmp_path)
    assert found["threads"] == len(os.sched_getaffinity(0)) or found["threads"] >= found["cores"] >= 1
    assert found["memory"] % (1 << 30) == 0
    assert found["architecture"] == os.uname().machine
    assert found["storage"]["filesystem"]
    assert found == facts.hardware(tmp_path / "not" / "there" / "yet")
    assert facts.facts(tmp_path)["kernel"] == os.uname().release
    assert facts.differences(found, found) == []


def test_it_is_quick(tmp_path):
    def seconds():
        began = time.process_time()
        facts.hardware(tmp_path)
        return time.process_time() - began

    assert min(seconds() for _ in range(5)) < 0.01


def test_every_declared_difference_is_a_sentence():
    declared = {
        "cpu": "AMD  epyc",
        "cores": 48,
        "smt": False,
        "memory": 128 << 30,
        "os": "any",
        "storage": {"device": "md2", "kind": "nvme", "filesystem": "ext4", "max_sectors_kb": 128, "members": 2},
    }
    storage = {"device": "vda", "kind": "virtual", "filesystem": "xfs"}
    actual = {"cpu": "AMD EPYC", "cores": 2, "smt": True, "memory": 24 << 30, "storage": storage}
    assert facts.differences(declared, actual) == [
        "cores: the spec says 48, this host has 2",
        "smt: the spec says off, this host has on",
        "memory: the spec says 128 GiB, this host has 24 GiB",
        "device: the spec says md2, this host has vda",
        "filesystem: the spec says ext4, this host has xfs",
        "max_sectors_kb: the spec says 128, this host does not say",
    ]


def test_only_what_is_declared_is_compared_and_memory_within_a_tenth():
    assert facts.differences({"memory": 128 << 30, "smt": "off"}, {"memory": 126 << 30, "smt": False, "cores": 3}) == []
    assert facts.differences({}, {}) == []
    assert facts.differences({"memory": 100}, {}) == ["memory: the spec says 100 B, this host does not say"]
