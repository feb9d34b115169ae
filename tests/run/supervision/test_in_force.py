"""Whether a program runs as it was asked to: real ones, and what the /proc of other hosts says."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from compiler.run import sysfs
from compiler.run.supervision import in_force
from compiler.run.supervision.in_force import processors, seen, watched
from compiler.run.supervision.launch import LaunchError

SLEEP = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]


@pytest.fixture
def library(tmp_path, monkeypatch):
    """What is called jemalloc on this host is a copy of a library that does nothing."""
    maps = Path("/proc/self/maps").read_text().split()
    path = tmp_path / "usr/lib/libjemalloc.so.2"
    path.parent.mkdir(parents=True)
    shutil.copy(next(word for word in maps if "/libm.so" in word or "/libc.so" in word), path)
    (tmp_path / "proc").symlink_to("/proc")
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    return path


@pytest.fixture
def running():
    started = []

    def start(argv, **env):
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env={**os.environ, **env})
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_processors_that_taskset_gave(running):
    process = running(["taskset", "-c", "0", *SLEEP])
    assert watched(process.pid, {"cpus": "0"}) == {"cpus": "0"}
    process.stdout.readline()
    said = in_force.in_force(process.pid, {"cpus": "0-1"})
    assert said == "`cpus: 0-1` is not in force: it has 0"


def test_an_allocator_that_is_mapped(running, library):
    process = running(SLEEP, LD_PRELOAD=str(library))
    assert watched(process.pid, {"malloc": "jemalloc"}) == {"malloc": str(library)}


def test_an_allocator_that_is_not_mapped(running, library, monkeypatch):
    monkeypatch.setattr(in_force, "PATIENCE", 0.1)
    with pytest.raises(LaunchError, match=r"^`malloc: jemalloc` is not in force: its library is not mapped$"):
        watched(running(SLEEP).pid, {"malloc": "jemalloc"})


def test_one_that_ended_at_once_is_not_known_to_be_wrong(running):
    process = running(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert watched(process.pid, {"cpus": "0-63"}) == {"ended": "it ended before it could be looked at"}


def test_a_wrapper_is_not_the_program_yet(tmp_path, monkeypatch):
    (tmp_path / "proc/7").mkdir(parents=True)
    (tmp_path / "proc/7/exe").symlink_to("/usr/bin/numactl")
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    assert in_force.in_force(7, {"cpus": "0"}) == "numactl has not started the program yet"


@pytest.mark.parametrize(
    ("maps", "said"),
    [
        ("55d0 interleave:0-1 file=/bin/x mapped=2\n7ffd interleave:0-1 stack anon=3 N0=3\n", None),
        ("55d0 bind:1 file=/bin/x mapped=2\n7ffd default stack anon=3 N0=3\n", "it has default"),
        ("", "/proc does not say so"),
    ],
)
def test_memory_over_all_nodes(tmp_path, monkeypatch, maps, said):
    for node in ("node0", "node1"):
        (tmp_path / "sys/devices/system/node" / node).mkdir(parents=True)
    (tmp_path / "proc/7").mkdir(parents=True)
    (tmp_path / "proc/7/numa_maps").write_text(maps)
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    found = in_force.in_force(7, {"numa": "interleave"})
    assert found == (said and f"`numa: interleave` is not in force: {said}")


def test_on_one_node_there_is_nothing_to_look_for(tmp_path, monkeypatch):
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    assert seen(7, {"numa": "interleave"}) == {}


def test_lists_of_processors():
    assert processors("0-3,8") == {0, 1, 2, 3, 8}
    assert processors("0-6:2") == {0, 2, 4, 6}


def test_a_step_whose_processors_this_host_lacks_fails(checkout, stage, step):
    many = f"0-{os.cpu_count()}"
    slow = replace(step("load", "import time; time.sleep(60)"), setup={"launch": {"cpus": many}})
    checkout.plan(stage("s-load", slow))
    assert checkout.run("s-load").returncode == 1
    failure = checkout.failure("s-load")
    last = os.cpu_count() - 1
    assert failure["step"] == "load"
    assert failure["message"] == f"`cpus: {many}` is not in force: it has {f'0-{last}' if last else 0}"
    assert checkout.live() == []
