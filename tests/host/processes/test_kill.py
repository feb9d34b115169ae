"""However a runner ends, nothing of it stays."""

import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.daemons import DAEMON
from tests.waiting import LONG, SOON, in_time

SLEEP = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"


@pytest.fixture
def sleeping(checkout, stage, step, until):
    """A runner in the middle of a step, and the step's process."""
    checkout.plan(stage("s-load", step("load", SLEEP)))

    def make(**env):
        runner = checkout.start("s-load", **env)
        return runner, until(lambda: _pid(checkout))

    return make


def _pid(checkout):
    logs = sorted(checkout.store.root.glob("attempts/s-load/*/steps/0-load/stdout"))
    return int(text) if logs and (text := logs[-1].read_text()).endswith("\n") else None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_within_a_second(checkout, sleeping, gone, number):
    runner, child = sleeping()
    began = time.monotonic()
    runner.send_signal(number)
    assert runner.wait(SOON) == 128 + number
    assert in_time(time.monotonic() - began, 1.0)
    assert gone(child)
    assert checkout.live() == []
    failure = checkout.failure("s-load")
    assert failure["status"] == "interrupted"
    assert failure["message"] == f"stopped by {number.name}"


def test_sigkill_of_the_runner_takes_the_child_and_the_next_run_clears_up(checkout, sleeping, stage, step, until, gone):
    runner, child = sleeping()
    runner.kill()
    runner.wait(SOON)
    until(lambda: gone(child), SOON)
    assert checkout.live() == [f"s-load.{runner.pid}"]
    killed = checkout.store.attempts("s-load")[-1]
    (killed / f".attempt.json.{runner.pid}").touch()  # as if it had just been about to write it
    assert not (killed / "failure.json").exists()
    checkout.plan(stage())
    assert checkout.run("s-load").returncode == 0
    assert checkout.live() == []
    failure = json.loads((killed / "failure.json").read_text())
    assert (failure["status"], failure["message"]) == ("interrupted", "the process that ran it was killed")
    assert [path.name for path in killed.glob(".*")] == []


def test_sigkill_of_the_parent_ends_runner_and_child(checkout, stage, step, until, gone):
    checkout.plan(stage("s-load", step("load", SLEEP)))
    code = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    argv = [sys.executable, "-c", code, *checkout.command("s-load")]
    parent = subprocess.Popen(argv, cwd=checkout.folder, env=checkout.environment(), stderr=subprocess.DEVNULL)
    checkout.started.append(parent)
    child = until(lambda: _pid(checkout))
    runner = int(Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2].split()[1])
    parent.kill()
    until(lambda: gone(runner) and gone(child), SOON)
    until(lambda: (checkout.store.attempts("s-load")[-1] / "failure.json").exists(), SOON)
    assert checkout.failure("s-load")["message"] == "stopped by SIGTERM"
    assert checkout.live() == []


def test_the_child_has_a_group_of_its_own_and_the_runner_that_of_its_parent(sleeping):
    runner, child = sleeping()
    assert os.getpgid(child) == child
    assert os.getpgid(runner.pid) == os.getpgid(0)


def test_it_does_not_start_for_a_parent_that_is_gone(checkout, stage):
    checkout.plan(stage())
    done = checkout.run("s-load", STEPGRID_PARENT="999999999")
    assert done.returncode == 1
    assert done.stderr == "not started: the process 999999999 that started this job is gone\n"
    assert checkout.store.attempts("s-load") == []


def test_live_folders_of_the_dead_are_swept_and_those_of_the_living_stay(checkout, stage, step, sleeping):
    runner, _ = sleeping()
    checkout.plan(stage("s-load", step("load", SLEEP)), stage("s-other"))
    dead = checkout.store.root / "live" / "s-gone.1"
    (dead / "data" / "inner").mkdir(parents=True)
    (dead / "data" / "inner" / "1.sst").write_text("x")
    half = checkout.store.root / "images" / ".s-gone.1"
    half.mkdir(parents=True)
    other = checkout.folder / "another.lock"
    assert checkout.run("s-other", STEPGRID_HOST_LOCK=str(other)).returncode == 0
    assert not dead.exists()
    assert not half.exists()
    assert checkout.live() == [f"s-load.{runner.pid}"]


FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("next_stage", ["s-load", "s-other"])
def test_a_grandchild_of_a_runner_that_was_killed_ends_before_the_next_stage_is_measured(
    checkout, stage, step, until, gone, next_stage
):
    checkout.plan(stage("s-load", step("load", FAMILY)))
    runner = checkout.start("s-load")
    grandchild = until(lambda: _pid(checkout))
    until(lambda: "started" in (checkout.store.attempts("s-load")[-1] / "journal.jsonl").read_text())
    runner.kill()
    runner.wait(SOON)
    assert not gone(grandchild), "the kernel ends direct children only"
    checkout.plan(stage(next_stage))
    assert checkout.run(next_stage).returncode == 0
    until(lambda: gone(grandchild), SOON)


def test_a_group_that_works_elsewhere_is_not_ours(tmp_path):
    from stepgrid.host.processes import signals

    journal = tmp_path / "journal.jsonl"
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd="/", process_group=0)
    journal.write_text(json.dumps({"t": 1, "event": "started", "pid": stranger.pid}) + '\n{"t": 2, "ev')
    signals.kill_attempt(journal, (tmp_path,))
    time.sleep(0.1)
    alive = stranger.poll() is None
    stranger.kill()
    stranger.wait()
    assert alive


def test_numbers_of_another_hosts_processes_are_nobody_here(tmp_path):
    from stepgrid.host.processes import signals

    journal = tmp_path / "journal.jsonl"
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=tmp_path, process_group=0)
    journal.write_text(json.dumps({"t": 1, "event": "started", "pid": stranger.pid}) + "\n")
    (tmp_path / "attempt.json").write_text(json.dumps({"hostname": "another"}))
    signals.kill_attempt(journal, (tmp_path,))
    time.sleep(0.1)
    assert stranger.poll() is None
    (tmp_path / "attempt.json").write_text(json.dumps({"hostname": platform.node()}))
    signals.kill_attempt(journal, (tmp_path,))
    assert stranger.wait(LONG) == -signal.SIGKILL


def test_what_waits_for_the_host_does_not_sweep_while_another_measures(checkout, stage, until):
    from stepgrid.host.locks import locked

    checkout.plan(stage())
    dead = checkout.store.root / "live" / "s-gone.1"
    dead.mkdir(parents=True)
    with locked(checkout.folder / "host.lock"):
        runner = checkout.start("s-load")
        assert "waiting for the host" in until(
            lambda: next((s for s in iter(runner.stderr.readline, "") if "waiting for" in s), "")
        )
        assert dead.exists()
    assert runner.wait(SOON) == 0
    assert not dead.exists()


@pytest.fixture
def without_cgroups(checkout, monkeypatch):
    """As on most machines, where nobody but root may make any."""
    trial = checkout.folder / "trial.py"
    no_cgroups = "import stepgrid.host.processes.cgroup\nstepgrid.host.processes.cgroup.trees = lambda: ()\n"
    source = (Path(__file__).parents[2] / "run" / "trial.py").read_text()
    trial.write_text(source.replace("if __name__", f"{no_cgroups}\nif __name__"))
    monkeypatch.setattr(checkout, "command", lambda name: [sys.executable, str(trial), "p", name])


def test_a_daemon_ends_with_the_stage(checkout, stage, step, gone, without_cgroups):
    checkout.plan(stage("s-load", step("load", DAEMON)))
    assert checkout.run("s-load").returncode == 0
    (pid,) = map(int, (checkout.store.result("s-load") / "steps" / "0-load" / "stdout").read_text().split())
    assert gone(pid)


def test_a_daemon_of_a_runner_that_was_killed_ends_before_the_next_stage_is_measured(
    checkout, stage, step, until, gone, without_cgroups
):
    checkout.plan(stage("s-load", step("load", DAEMON + "time.sleep(60)")))
    runner = checkout.start("s-load")
    daemon = until(lambda: _pid(checkout))
    runner.kill()
    runner.wait(SOON)
    assert not gone(daemon)
    checkout.plan(stage("s-other"))
    assert checkout.run("s-other").returncode == 0
    until(lambda: gone(daemon), SOON)
