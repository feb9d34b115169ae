"""Cgroups of this host, where it lets us make some, and how those of other hosts are found."""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import convert

from stepgrid.host import sysfs
from stepgrid.host.processes import cgroup
from stepgrid.host.processes.cgroup import caged
from stepgrid.model.records import StepSetup, replace
from tests.daemons import DAEMON
from tests.waiting import LONG, SOON

ROOT = Path(__file__).resolve().parents[3]
OUT_OF_MEMORY = "it ran out of memory, and the kernel killed one of its processes: `launch.memory` allows 96 MiB"
INNER = """
from stepgrid.host.processes.cgroup import trees
inner = next(tree.folder for tree in trees() if tree.limits) / "inner"
inner.mkdir()
(inner / "cgroup.procs").write_text("0")
"""  # a program may make cgroups of its own
finds = pytest.mark.skipif(not cgroup.can_find(), reason="no cgroup may be made here")
limits = pytest.mark.skipif(not cgroup.can_limit(), reason="no cgroup with a memory limit may be made here")


def _python(cage, code):
    argv = [sys.executable, "-c", code]
    return subprocess.run(argv, preexec_fn=cage.joining(lambda: None), capture_output=True, text=True, timeout=LONG)


@limits
def test_a_step_with_a_memory_limit(checkout, stage, step):
    setup = {"launch": {"memory": 96 << 20}}
    code = "import sys; print('held', len(bytearray(int(sys.stdin.read() or 1) << 20)))"
    checkout.plan(stage("s-load", replace(step("load", code), setup=convert(setup, StepSetup))))
    assert checkout.run("s-load", PATH="/usr/bin:/bin").returncode == 0, checkout.failure("s-load")
    [record] = checkout.result("s-load")["steps"]
    assert record["launch"] == {"memory": 96 << 20}
    too_much = replace(step("load", "bytearray(300 << 20)"), setup=convert(setup, StepSetup))
    checkout.plan(stage("s-more", too_much))
    assert checkout.run("s-more", PATH="/usr/bin:/bin").returncode == 1
    assert checkout.failure("s-more")["message"] == OUT_OF_MEMORY


@limits
@pytest.mark.parametrize("first", ["", INNER])
def test_a_killed_child_behind_a_shell_that_goes_on(checkout, stage, step, first):
    child = f"{first}bytearray(300 << 20)"
    code = f"import subprocess, sys; print(subprocess.call([sys.executable, '-c', {child!r}]))"
    setup = {"launch": {"memory": 96 << 20, "env": {"PYTHONPATH": str(ROOT / "compiler")}}}
    checkout.plan(stage("s-load", replace(step("load", code), setup=convert(setup, StepSetup))))
    assert checkout.run("s-load", PATH="/usr/bin:/bin").returncode == 1
    failure = checkout.failure("s-load")
    assert (failure["message"], failure["tail"]) == (OUT_OF_MEMORY, "-9")


@finds
def test_a_step_takes_its_daemon_along(checkout, stage, step, gone, until):
    checkout.plan(stage("s-load", step("load", DAEMON)))
    assert checkout.run("s-load").returncode == 0, checkout.failure("s-load")
    daemon = int((checkout.store.result("s-load") / "steps/0-load/stdout").read_text())
    until(lambda: gone(daemon))


@finds
def test_the_next_stage_ends_what_a_killed_runner_left(checkout, stage, step, gone, until):
    checkout.plan(stage("s-load", step("load", f"{DAEMON}time.sleep(60)")))
    runner = checkout.start("s-load")
    outs = checkout.store.root.glob
    daemon = int(until(lambda: "".join(path.read_text() for path in outs("attempts/s-load/*/steps/0-load/stdout"))))
    runner.kill()
    runner.wait(SOON)
    assert not gone(daemon)
    checkout.plan(stage("s-other", step("load", "pass")))
    assert checkout.run("s-other").returncode == 0
    until(lambda: gone(daemon))


def test_where_none_can_be_made_there_is_only_the_process_group(tmp_path, monkeypatch):
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    assert not cgroup.can_limit()
    with caged() as cage:
        assert cage.folders == ()
        assert _python(cage, "print(1)").stdout == "1\n"
    with pytest.raises(PermissionError, match=r"^no cgroup with a memory limit can be made here$"), caged(1 << 20):
        pass
