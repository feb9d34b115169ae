"""A program and its children under our eyes: limits, signals, output, and what an ending leaves."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import convert

from stepgrid.host import sysfs
from stepgrid.host.processes import launch, supervision
from stepgrid.host.processes.launch import LaunchError, check_launch, plan_launch
from stepgrid.host.processes.supervision import Companion, Program, User
from stepgrid.model.plan import Command
from stepgrid.model.records import LaunchRequest, StepSetup, replace
from tests.cases import rows


@pytest.fixture
def start(tmp_path):
    made = []

    def started(code):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(supervision.spawn(Program([sys.executable, "-c", code], dict(os.environ), folder)))
        return made[-1]

    yield started
    for process in made:
        supervision.kill(process.pid)
        if process.returncode is None:
            supervision.reap(process)


def test_a_companion_that_its_program_ends_is_started_again_once(start, tmp_path):
    companions = [start("import time; time.sleep(60)")]

    def restart():
        assert supervision.exit_status(companions[-1].pid) == -signal.SIGKILL
        companions.append(start("import os; os.close(1)"))  # ends at once
        return companions[-1].pid

    code = f"import os, time; os.kill({companions[0].pid}, 9); time.sleep(60)"
    program = Program([sys.executable, "-c", code], dict(os.environ), tmp_path)
    ended = supervision.supervise(program, 50.0, companion=Companion(companions[0].pid, restart))
    assert len(companions) == 2
    assert ended.deserted
    assert ended.seconds < 40


@pytest.mark.parametrize(("status", "said"), rows(__file__, "how_it_ended_in_words"))
def test_how_it_ended_in_words(status, said):
    assert supervision.describe_exit(status) == said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
@pytest.mark.parametrize("inside", [False, True])
def test_it_becomes_somebody_else_and_still_dies_with_us(inside, tmp_path):
    code = (
        "import ctypes, os; number = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(number)); "
        "print(os.geteuid(), number.value)"
    )
    user = User("nobody", 65534, 65534, inside)
    argv = ["/usr/bin/env", "python3", "-c", code]
    process = supervision.spawn(Program(argv, {"PATH": "/usr/bin:/bin"}, tmp_path, user))
    assert supervision.wait(process.pid, 20.0) == process.pid
    supervision.reap(process)
    assert (tmp_path / "stdout").read_text() == f"65534 {signal.SIGKILL.value}\n"


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


@pytest.fixture
def launched_as(running):
    """Starts a program as a step does, behind its gate."""

    def start(asked, argv=SLEEP):
        done = plan_launch(Command(tuple(argv)), asked)
        return running(done.argv, **done.command.env)

    return start


def test_processors_that_taskset_gave(launched_as):
    asked = LaunchRequest(cpus="0")
    process = launched_as(asked)
    assert check_launch(process.pid, asked) == {"cpus": "0"}
    assert process.stdout.readline() == "up\n"
    said = launch.launch_complaint(process.pid, LaunchRequest(cpus="0-1"))
    assert said == "`cpus: 0-1` is not in force: it has 0"


def test_it_waits_until_it_was_looked_at(launched_as, tmp_path):
    there = tmp_path / "there"
    many = f"0-{os.cpu_count()}"
    process = launched_as(LaunchRequest(cpus=many), ["touch", str(there)])
    with pytest.raises(LaunchError, match=rf"^`cpus: {many}` is not in force: it has "):
        check_launch(process.pid, LaunchRequest(cpus=many))
    assert process.poll() is None
    assert not there.exists()


def test_a_program_behind_a_gate_keeps_its_words_and_its_environment(launched_as, tmp_path):
    asked = LaunchRequest(cpus="0", env={"A": "1"})
    out = tmp_path / "out"
    code = f"import os, sys; open({str(out)!r}, 'w').write(repr((sys.argv[1:], os.environ['A'])))"
    process = launched_as(asked, [sys.executable, "-c", code, "a b", "$c", "'"])
    check_launch(process.pid, asked)
    assert process.wait() == 0
    assert out.read_text() == repr((["a b", "$c", "'"], "1"))


def test_an_allocator_that_is_not_mapped(launched_as, library, monkeypatch):
    monkeypatch.setattr(launch, "MAPPING_SECONDS", 0.1)
    process = launched_as(LaunchRequest(cpus="0"))
    with pytest.raises(LaunchError, match=r"^`malloc: jemalloc` is not in force: its library is not mapped$"):
        check_launch(process.pid, LaunchRequest(malloc="jemalloc"))


@pytest.mark.parametrize(("maps", "said"), rows(__file__, "memory_over_all_nodes"))
def test_memory_over_all_nodes(tmp_path, monkeypatch, maps, said):
    for node in ("node0", "node1"):
        (tmp_path / "sys/devices/system/node" / node).mkdir(parents=True)
    (tmp_path / "proc/7").mkdir(parents=True)
    (tmp_path / "proc/7/numa_maps").write_text(maps)
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    found = launch.launch_complaint(7, LaunchRequest(numa="interleave"))
    assert found == (said and f"`numa: interleave` is not in force: {said}")


def test_a_step_whose_processors_this_host_lacks_fails(checkout, stage, step):
    many = f"0-{os.cpu_count()}"
    slow = replace(step("load", "import time; time.sleep(60)"), setup=convert({"launch": {"cpus": many}}, StepSetup))
    checkout.plan(stage("s-load", slow))
    assert checkout.run("s-load").returncode == 1
    failure = checkout.failure("s-load")
    last = os.cpu_count() - 1
    assert failure["step"] == "load"
    assert failure["message"] == f"`cpus: {many}` is not in force: it has {f'0-{last}' if last else 0}"
    assert checkout.live() == []


def test_a_step_that_ends_at_once_fails_as_well(checkout, stage, step):
    many = f"0-{os.cpu_count()}"
    checkout.plan(stage("s-load", replace(step("load", "pass"), setup=convert({"launch": {"cpus": many}}, StepSetup))))
    assert checkout.run("s-load").returncode == 1
    last = os.cpu_count() - 1
    assert (
        checkout.failure("s-load")["message"] == f"`cpus: {many}` is not in force: it has {f'0-{last}' if last else 0}"
    )
