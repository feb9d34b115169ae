"""Cgroups of this host, where it lets us make some, and how those of other hosts are found."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from stepgrid.host import sysfs
from stepgrid.host.processes import cgroup
from stepgrid.host.processes.cgroup import V1, V2, Tree, caged, memory_limit, trees
from tests.daemons import DAEMON
from tests.waiting import LONG, SOON

HOLD = f"""
import subprocess, sys, time
from stepgrid.host.processes.cgroup import caged
with caged() as cage:
    subprocess.run([sys.executable, "-c", {DAEMON!r}], preexec_fn=cage.joining(lambda: None))
    print(*cage.folders, flush=True)
    time.sleep(60)
"""
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


@finds
def test_a_daemon_ends_with_its_step(gone, until):
    with caged() as cage:
        daemon = int(_python(cage, DAEMON).stdout)
        assert not gone(daemon)
    until(lambda: gone(daemon))
    assert cage.folders
    assert not any(folder.exists() for folder in cage.folders)


@finds
def test_a_killed_owner_leaves_a_daemon_that_the_next_one_ends(gone, until):
    root = str(ROOT / "compiler")
    owner = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": root}
    )
    daemon, *_ = int(owner.stdout.readline()), owner.stdout
    folders = [Path(folder) for folder in owner.stdout.readline().split()]
    cgroup.sweep()
    assert not gone(daemon), "its owner lives"
    owner.kill()
    owner.communicate()
    assert not gone(daemon)
    cgroup.sweep()
    until(lambda: gone(daemon))
    assert not any(folder.exists() for folder in folders)


@limits
def test_memory_has_a_limit():
    with caged(64 << 20) as cage:
        little = _python(cage, "import sys; sys.stdin.read(); print(len(bytearray(1 << 20)))")
        assert not cage.ran_out
        much = _python(cage, "print(len(bytearray(200 << 20)))")
        assert cage.ran_out
    assert (little.returncode, little.stdout) == (0, "1048576\n")
    assert much.returncode == -9


@limits
def test_a_step_with_a_memory_limit(checkout, stage, step):
    setup = {"launch": {"memory": 96 << 20}}
    code = "import sys; print('held', len(bytearray(int(sys.stdin.read() or 1) << 20)))"
    checkout.plan(stage("s-load", replace(step("load", code), setup=setup)))
    assert checkout.run("s-load", PATH="/usr/bin:/bin").returncode == 0, checkout.failure("s-load")
    [record] = checkout.result("s-load")["steps"]
    assert record["launch"] == {"memory": 96 << 20}
    too_much = replace(step("load", "bytearray(300 << 20)"), setup=setup)
    checkout.plan(stage("s-more", too_much))
    assert checkout.run("s-more", PATH="/usr/bin:/bin").returncode == 1
    assert checkout.failure("s-more")["message"] == OUT_OF_MEMORY


@limits
@pytest.mark.parametrize("first", ["", INNER])
def test_a_killed_child_behind_a_shell_that_goes_on(checkout, stage, step, first):
    child = f"{first}bytearray(300 << 20)"
    code = f"import subprocess, sys; print(subprocess.call([sys.executable, '-c', {child!r}]))"
    setup = {"launch": {"memory": 96 << 20, "env": {"PYTHONPATH": str(ROOT / "compiler")}}}
    checkout.plan(stage("s-load", replace(step("load", code), setup=setup)))
    assert checkout.run("s-load", PATH="/usr/bin:/bin").returncode == 1
    failure = checkout.failure("s-load")
    assert (failure["message"], failure["tail"]) == (OUT_OF_MEMORY, "-9")


def test_a_scope_of_systemd_is_counted_by_the_folder_above(tmp_path, monkeypatch):
    """The scope is gone when its last process is."""
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/7").mkdir()
    (tmp_path / "proc/self/mountinfo").write_text("35 30 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    (tmp_path / "proc/7/cgroup").write_text("0::/app.slice/run-u1.scope\n")
    app = tmp_path / "sys/fs/cgroup/app.slice"
    app.mkdir(parents=True)
    (app / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\noom_group_kill 0\n")
    cage = cgroup.ControlGroup()
    cage.follow(7)
    assert not cage.ran_out
    (app / "memory.events").write_text("low 0\nhigh 0\nmax 12\noom 3\noom_kill 3\noom_group_kill 0\n")
    assert cage.ran_out


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


MOUNTS = """\
30 1 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755
31 30 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
32 30 0:28 /docker/1 /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory
33 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
34 30 0:30 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd
35 30 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate
"""
PLACES = "5:memory:/docker/1/job\n4:cpu,cpuacct:/x\n3:cpuset:/\n1:name=systemd:/y\n0::/user.slice\n"


@pytest.fixture
def other(tmp_path, monkeypatch):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(MOUNTS)
    (tmp_path / "proc/self/cgroup").write_text(PLACES)
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    return tmp_path


def test_both_versions_side_by_side(other):
    top = other / "sys/fs/cgroup"
    assert trees() == [
        Tree(top / "unified/user.slice", V2, unified=True),
        Tree(top / "memory/job", V1, unified=False),  # of a container: its part of the tree is the root that it sees
        Tree(top / "cpu,cpuacct/x", (), unified=False),
        Tree(top / "systemd/y", (), unified=False),
    ]


def test_the_unified_tree_has_limits_where_they_are_handed_down(other, monkeypatch):
    monkeypatch.setattr(cgroup, "may_join", lambda parent: True)
    unified = trees()[0]
    unified.folder.mkdir(parents=True)
    assert not unified.hands_down(unified.folder)
    (unified.folder.parent / "cgroup.subtree_control").write_text("cpu memory\n")
    assert [unified.hands_down(parent) for parent in unified.parents()] == [False, True]


def test_the_limit_of_a_process(other):
    (other / "proc/7").mkdir()
    (other / "proc/7/cgroup").write_text("0::/user.slice\n")
    assert memory_limit(7) is None
    folder = other / "sys/fs/cgroup/unified/user.slice"
    folder.mkdir(parents=True)
    (folder / "memory.max").write_text("max\n")
    assert memory_limit(7) is None
    (folder / "memory.max").write_text("1073741824\n")
    assert memory_limit(7) == 1 << 30
