"""A step with its launch, start and probes, by real processes; and what a failed one is said to have failed of."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from stepgrid.host import page_cache, sysfs
from stepgrid.host.processes import cgroup, launch
from stepgrid.host.processes.supervision import ProcessEnd, Program, describe_exit, environment, supervise
from stepgrid.model.plan import Command, PlannedStep
from stepgrid.plugins.registry import require_runner
from stepgrid.run.options import AcceptedOptions
from stepgrid.run.step import Step, StepEnd, describe, explain_end
from tests.run.machine import make

COMMAND = Command(("prog", "-x"), {"A": "1"}, 3.0)
SHOW = "import os; print(sorted(os.sched_getaffinity(0)), os.environ.get('COLOUR'))"


@pytest.fixture
def host(tmp_path, monkeypatch):
    """The files of a host that has two NUMA nodes and one allocator, and its programs."""
    for node in ("node0", "node1"):
        (tmp_path / "sys/devices/system/node" / node).mkdir(parents=True)
    library = tmp_path / "usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
    library.parent.mkdir(parents=True)
    library.touch()
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    return tmp_path


def test_nothing_asked_is_nothing_done():
    done = launch.plan_launch(COMMAND, {})
    assert done == launch.LaunchPlan(COMMAND, {})
    assert done.argv == COMMAND.argv


def test_all_that_can_be_asked(host):
    asked = {"numa": "interleave", "malloc": "jemalloc", "cpus": "0-3,8", "env": {"B": "2", "A": "3"}}
    done = launch.plan_launch(COMMAND, asked)
    assert done.command.argv == ("/bin/numactl", "--interleave=all", "/bin/taskset", "-c", "0-3,8", "prog", "-x")
    library = str(host / "usr/lib/x86_64-linux-gnu/libjemalloc.so.2")
    assert done.command.env == {"A": "3", "B": "2", "LD_PRELOAD": library}
    assert done.command.duration == 3.0
    assert done.argv == (*done.command.argv[:5], *launch.GATE, "prog", "-x")
    assert done.record == {**asked, "library": library}


def test_one_numa_node_leaves_interleaving_out_and_says_so(host):
    (host / "sys/devices/system/node/node1").rmdir()
    done = launch.plan_launch(COMMAND, {"numa": "interleave"})
    assert done.command == COMMAND
    assert done.argv == (*launch.GATE, *COMMAND.argv)
    assert done.record == {"numa": "interleave: left out, this host has one NUMA node"}


def test_an_allocator_that_is_not_here(host):
    with pytest.raises(launch.LaunchError) as caught:
        launch.plan_launch(COMMAND, {"malloc": "tcmalloc"})
    assert str(caught.value) == "`malloc: tcmalloc`: there is no libtcmalloc.so.4 here; install libgoogle-perftools4"


def test_a_tool_that_is_not_here(host, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(launch.LaunchError, match=r"^there is no taskset on PATH; install util-linux$"):
        launch.plan_launch(COMMAND, {"cpus": "0"})


def test_memory_needs_a_cgroup_by_systemd_or_our_own(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(cgroup, "can_limit", lambda: True)
    found = launch.plan_launch(COMMAND, {"memory": 1 << 30})
    assert found == launch.LaunchPlan(COMMAND, {"memory": 1 << 30}, 1 << 30, 0, gate=True)
    monkeypatch.setattr(cgroup, "can_limit", lambda: False)
    with pytest.raises(launch.LaunchError) as caught:
        launch.plan_launch(COMMAND, {"memory": 1 << 30})
    said = str(caught.value)
    assert said.startswith("`memory: 1073741824` needs a cgroup, which `systemd-run --user --scope` does not give (")
    assert said.endswith("), and none may be made here; leave `memory` out, or run where systemd manages your session")


def test_memory_where_systemd_gives_a_scope(monkeypatch, tmp_path):
    tool = tmp_path / "systemd-run"
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    done = launch.plan_launch(COMMAND, {"memory": 1 << 30})
    assert done.command.argv[:5] == ("systemd-run", "--user", "--scope", "--quiet", "--property=MemoryMax=1073741824")
    assert done.command.argv[-3:] == ("--", "prog", "-x")
    assert done.command.env["XDG_RUNTIME_DIR"] == "/run/user/7"
    assert done.memory is None


def test_the_loader_only_warns(tmp_path):
    (tmp_path / "stderr").write_text("hello\nERROR: ld.so: object 'x.so' cannot be preloaded: ignored.\n")
    assert launch.unloaded_allocator({}, tmp_path / "stderr") is None
    said = launch.unloaded_allocator({"malloc": "jemalloc"}, tmp_path / "stderr")
    assert said == "jemalloc was not loaded: ERROR: ld.so: object 'x.so' cannot be preloaded: ignored."


def test_a_step_runs_as_it_was_asked(checkout, stage, step):
    asked = {"cpus": "0", "env": {"COLOUR": "red"}}
    checkout.plan(stage("s-load", replace(step("load", SHOW), setup={"launch": asked})))
    assert checkout.run("s-load").returncode == 0, checkout.failure("s-load")
    folder = checkout.store.result("s-load") / "steps/0-load"
    assert (folder / "stdout").read_text() == "[0] red\n"
    command = json.loads((folder / "command.json").read_text())
    assert command["launch"] == asked
    assert command["argv"][1:3] == ["-c", "0"]


def test_a_launch_that_is_impossible_fails_the_step(checkout, stage, step):
    checkout.plan(stage("s-load", replace(step("load", SHOW), setup={"launch": {"cpus": "0"}})))
    assert checkout.run("s-load", PATH=str(checkout.folder)).returncode == 1
    failure = checkout.failure("s-load")
    assert failure["step"] == "load"
    assert failure["message"] == "there is no taskset on PATH; install util-linux"


@pytest.mark.parametrize("start", [None, "cold", "warm"])
def test_what_the_cache_holds_at_the_start_is_measured(checkout, stage, step, start):
    setup = {"start": start} if start else {}
    reader = replace(step("read", "pass"), setup=setup)
    checkout.plan(stage("s-a", children=["s-b"]), stage("s-b", reader, parent="s-a"))
    assert checkout.run("s-a").returncode == 0
    assert checkout.run("s-b").returncode == 0
    held = checkout.attempt("s-b")["cache"]
    assert (held["start"], held["bytes"]) == (start, 6000)
    if start == "warm":
        assert held["resident"] == 6000
    assert 0 <= held["resident"] <= 6000


def test_cold_drops_the_pages_and_warm_reads_them(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "file").write_bytes(b"x" * 1_000_000)
    (tmp_path / "empty").touch()
    assert page_cache.residency(tmp_path) == {"files": 2, "bytes": 1_000_000, "resident": 1_000_000}
    cold = page_cache.set_up(tmp_path, "cold")
    assert cold["before"]["resident"] == 1_000_000
    if _has_a_device(tmp_path):  # the pages of tmpfs are the file
        assert cold["resident"] == 0
    assert page_cache.set_up(tmp_path, "warm")["resident"] == 1_000_000


def test_a_restored_database_that_fits_is_read_as_after_its_load(tmp_path, monkeypatch):
    """Between a load and the stages from it the kernel may have taken its pages back."""
    monkeypatch.setattr(sysfs, "ROOT", tmp_path / "root")
    data = tmp_path / "data"
    data.mkdir()
    (data / "file").write_bytes(b"x" * 1_000_000)
    page_cache.set_up(data, "cold")
    make(tmp_path / "root", {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 3900 kB\n"})
    assert "before" not in page_cache.set_up(data, None, restored=True)  # more than a quarter of what is available
    make(tmp_path / "root", {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 4000 kB\n"})
    assert "before" not in page_cache.set_up(data, None)
    read = page_cache.set_up(data, None, restored=True)
    assert (read["start"], read["resident"]) == (None, 1_000_000)
    if _has_a_device(tmp_path):
        assert read["before"]["resident"] == 0
    assert "before" not in page_cache.set_up(data, None, restored=True)  # all of it is there


def _has_a_device(path: Path) -> bool:
    from stepgrid.host.disk import mount

    found = mount(path)
    return found is not None and found.filesystem in ("ext4", "xfs", "btrfs")


PROBE = {"name": "dump", "command": ["{program:python}", "-c", "import time; time.sleep(0.2); print('{data}')"]}


def test_probes_are_run_timed_and_kept(checkout, stage, step):
    timed = replace(step("load"), setup={"before": [{**PROBE, "name": "first"}], "after": [PROBE]})
    checkout.plan(stage("s-load", timed))
    assert checkout.run("s-load").returncode == 0, checkout.failure("s-load")
    [record] = checkout.result("s-load")["steps"]
    assert list(record["probes"]) == ["first", "dump"]
    assert all(0.2 <= seconds < 10 for seconds in record["probes"].values())
    folder = checkout.store.result("s-load") / "steps/0-load/probes"
    assert (folder / "after-dump/stdout").read_text().endswith("/data\n")
    assert json.loads((folder / "before-first/probe.json").read_text())["when"] == "before"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["{program:python}", "-c", "import sys; sys.exit('broken pipe')"], "probe dump ended with exit status 1"),
        (["{program:nowhere}"], "probe dump: the build has no program `nowhere`; it has: python, none"),
        (["/no/such"], "probe dump: the program /no/such cannot be started: No such file or directory"),
    ],
)
def test_a_probe_that_fails_fails_its_step(checkout, stage, step, command, message):
    checkout.plan(stage("s-load", replace(step("load"), setup={"after": [{"name": "dump", "command": command}]})))
    assert checkout.run("s-load").returncode == 1
    failure = checkout.failure("s-load")
    assert (failure["step"], failure["message"]) == ("load", message)


FATAL = (
    "FATAL: unable to connect to MySQL server on socket '/s', aborting...\nFATAL: error 1040: Too many connections\n"
)


def _ended(status: int) -> ProcessEnd:
    return ProcessEnd(status, False, "", "", 1.0, 0.5, 0.5, 0)


def _explain(folder: Path, kind: str, process: ProcessEnd, *kept: str) -> str:
    planned = PlannedStep("readww", kind, 1, {}, {}, 7)
    step = Step(cast(Any, None), planned, folder, folder, AcceptedOptions({}), None, None, False, list)
    return explain_end(step, require_runner(kind), process, 10.0, kept)


@pytest.mark.parametrize(
    ("kind", "status", "output", "said"),
    [
        (
            "sysbench",
            1,
            FATAL,
            "sysbench failed: unable to connect to MySQL server on socket '/s': error 1040: Too many connections",
        ),
        ("sysbench", 1, "invalid option: --x\n", "it ended with exit status 1"),
        ("sysbench", -15, FATAL, "it was killed by SIGTERM"),
        ("db_bench", 1, FATAL, "it ended with exit status 1"),
    ],
)
def test_a_program_that_says_why_is_quoted(kind: str, status: int, output: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text(output)
    assert _explain(tmp_path, kind, _ended(status)) == said


def test_a_step_over_which_the_host_was_suspended_carries_a_warning() -> None:
    step = PlannedStep("readww", "command", 1, {}, {}, 7)
    end = StepEnd(_ended(0), 9.0, None, {}, {})
    suspended = end._replace(process=replace(end.process, suspended=7200.0))
    said = "the host was suspended for 2h00m while the step ran: `stepgrid redo` measures it again"
    assert describe(step, suspended, ())["warnings"] == [said]
    assert "warnings" not in describe(step, end, ())


def test_a_full_disk_that_only_the_engines_own_log_tells(tmp_path: Path) -> None:
    """An assertion stopped the program before it could say so, and the file that did not fit is gone."""
    (tmp_path / "stderr").write_text("db_bench: db/db_impl.cc:1: Assertion `s.ok()' failed.\n")
    (tmp_path / "LOG").write_text("[WARN] Background IO error IO error: No space left on device: While appending\n")
    assert _explain(tmp_path, "db_bench", _ended(-6), "LOG").startswith(f"the disk of {tmp_path} is full: ")
    assert _explain(tmp_path, "db_bench", _ended(-6)) == "it was killed by SIGABRT"


ENVIRONMENT = "import os; print(*sorted(f'{name}={value}' for name, value in os.environ.items()), sep='\\n')"


def test_variables_of_the_user_s_shell_reach_no_program(checkout, stage, step):
    """TZ, PATH and LD_LIBRARY_PATH did, and were in no identity."""
    planned = replace(step("load", ENVIRONMENT), setup={"launch": {"env": {"MINE": "1"}}})
    outputs = []
    for number, more in enumerate(("", "9")):
        checkout.plan(stage(f"s-{number}", planned))
        shell = {"TZ": "CET", "PATH": f"/usr/bin:/bin:/x{more}", "LANG": "de_DE.UTF-8", "MALLOC_ARENA_MAX": "1"}
        assert checkout.run(f"s-{number}", LD_LIBRARY_PATH=f"/x{more}", **shell).returncode == 0
        lines = (checkout.store.result(f"s-{number}") / "steps/0-load/stdout").read_text().splitlines()
        outputs.append(dict(line.split("=", 1) for line in lines if not line.startswith(("STEPGRID_RUNNING", "TRIAL"))))
    assert outputs[0] == outputs[1]
    assert {*outputs[0]} - {"HOME", "USER", "LOGNAME", "TMPDIR"} == {"LC_ALL", "TZ", "PATH", "MINE"}
    system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert (outputs[0]["TZ"], outputs[0]["LC_ALL"]) == ("UTC", "C")
    assert outputs[0]["PATH"] == f"{Path(sys.executable).parent}:{system}"


def test_a_program_of_path_finds_its_neighbours_and_what_it_lacks_is_told(tmp_path, monkeypatch):
    tool, elsewhere = tmp_path / "tool", tmp_path / "elsewhere"
    for folder, name, text in ((tool, "outer", "exec inner $1"), (tool, "inner", "exec $1"), (elsewhere, "far", "")):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", shell := f"{tool}:{elsewhere}:/usr/bin:/bin")

    def status(program, **env):
        return supervise(Program(["outer", program], environment("outer", env), tmp_path), 60.0).exit

    assert (status("true"), status("far"), status("far", PATH=shell)) == (0, 127, 0)
    assert environment("sh", {})["PATH"].endswith("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    assert describe_exit(127) == (
        "ended with exit status 127 (a program or library that it needs was not found: programs get a fixed PATH "
        "and no LD_LIBRARY_PATH, `launch: {env: {PATH: …}}` gives others)"
    )
