"""Facts of this host and of hosts made of files, and plans for several machines."""

from pathlib import Path

import pytest

from stepgrid.host import disk as disk_module
from stepgrid.host import facts, sysfs
from stepgrid.model.plan import Plan, PlannedCell, PlannedRepeat, PlannedReport, PlannedStage, PlannedStep
from stepgrid.model.records import replace
from stepgrid.store.store import Store
from stepgrid.workflow import run_request
from tests.run import finished


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


HERE, BIG = {"id": "here", "declared": True}, {"id": "dell32", "declared": True, "cores": 4096}
LOAD = PlannedStage(
    "s-1", "one", "b-1", None, (), 0, 0, "here", (PlannedStep("fill", "db_bench", 1, {}, {}, 1),), 1.0, 0
)
FAR = replace(LOAD, id="s-2", hardware="dell32", build="b-2")


@pytest.fixture
def plan():
    from stepgrid.model.plan import PlannedBuild

    builds = tuple(PlannedBuild(f"b-{n}", f"r{n}", "rocksdb", "1", {"system": "x"}) for n in (1, 2))
    cells = tuple(PlannedCell(f"c-{s.id}", {}, s.build, (), (PlannedRepeat(0, 0, (s.id,)),)) for s in (LOAD, FAR))
    machines = {"here": HERE, "dell32": BIG}
    return Plan("p", "t", "a.yaml", None, (), cells, builds, (LOAD, FAR), HERE, PlannedReport(), machines=machines)


def test_when_the_rest_is_done_there_is_nothing_to_do_here(plan, tmp_path):
    store = Store(tmp_path / "outputs")
    finished.make_build(store, "b-1")
    run_request.remaining_work(plan, store)
    finished.result(store, LOAD)
    finished.summarize(store, plan)
    work = run_request.remaining_work(plan, store)
    assert work.is_over
    said = work.nothing_to_do.splitlines()[0]
    assert said == "nothing to do: 2 cells, 1 stage measured, 1 stage elsewhere (needs dell32)"
