"""A step with its launch, start and probes, by real processes; and what a failed one is said to have failed of."""

import json
import sys
from pathlib import Path

import pytest
from msgspec import convert

from stepgrid.host import page_cache, sysfs
from stepgrid.host.processes import cgroup, launch
from stepgrid.host.processes.supervision import ProcessEnd, Program, describe_exit, environment, supervise
from stepgrid.model.plan import Command, PlannedStep
from stepgrid.model.records import LaunchRequest, StepSetup, replace
from stepgrid.plugins.registry import require_runner
from stepgrid.run.options import AcceptedOptions
from stepgrid.run.step import StepRun, explain_end
from tests.run.machine import make

COMMAND = Command(("prog", "-x"), {"A": "1"}, 3.0)
SHOW = "import os; print(sorted(os.sched_getaffinity(0)), os.environ.get('COLOUR'))"


def test_memory_needs_a_cgroup_by_systemd_or_our_own(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(cgroup, "can_limit", lambda: True)
    found = launch.plan_launch(COMMAND, LaunchRequest(memory=1 << 30))
    assert found == launch.LaunchPlan(COMMAND, {"memory": 1 << 30}, 1 << 30, 0, gate=True)
    monkeypatch.setattr(cgroup, "can_limit", lambda: False)
    with pytest.raises(launch.LaunchError) as caught:
        launch.plan_launch(COMMAND, LaunchRequest(memory=1 << 30))
    said = str(caught.value)
    assert said.startswith("`memory: 1073741824` needs a cgroup, which `systemd-run --user --scope` does not give (")
    assert said.endswith("), and none may be made here; leave `memory` out, or run where systemd manages your session")


def test_a_step_runs_as_it_was_asked(checkout, stage, step):
    asked = {"cpus": "0", "env": {"COLOUR": "red"}}
    checkout.plan(stage("s-load", replace(step("load", SHOW), setup=convert({"launch": asked}, StepSetup))))
    assert checkout.run("s-load").returncode == 0, checkout.failure("s-load")
    folder = checkout.store.result("s-load") / "steps/0-load"
    assert (folder / "stdout").read_text() == "[0] red\n"
    command = json.loads((folder / "command.json").read_text())
    assert command["launch"] == asked
    assert command["argv"][1:3] == ["-c", "0"]


def test_a_launch_that_is_impossible_fails_the_step(checkout, stage, step):
    checkout.plan(stage("s-load", replace(step("load", SHOW), setup=convert({"launch": {"cpus": "0"}}, StepSetup))))
    assert checkout.run("s-load", PATH=str(checkout.folder)).returncode == 1
    failure = checkout.failure("s-load")
    assert failure["step"] == "load"
    assert failure["message"] == "there is no taskset on PATH; install util-linux"


@pytest.mark.parametrize("start", [None, "cold", "warm"])
def test_what_the_cache_holds_at_the_start_is_measured(checkout, stage, step, start):
    setup = {"start": start} if start else {}
    reader = replace(step("read", "pass"), setup=convert(setup, StepSetup))
    checkout.plan(stage("s-a", children=["s-b"]), stage("s-b", reader, parent="s-a"))
    assert checkout.run("s-a").returncode == 0
    assert checkout.run("s-b").returncode == 0
    held = checkout.attempt("s-b")["cache"]
    assert (held["start"], held["bytes"]) == (start, 6000)
    if start == "warm":
        assert held["resident"] == 6000
    assert 0 <= held["resident"] <= 6000


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


def _has_a_device(path):
    from stepgrid.host.disk import mount

    found = mount(path)
    return found is not None and found.filesystem in ("ext4", "xfs", "btrfs")


PROBE = {"name": "dump", "command": ["{program:python}", "-c", "import time; time.sleep(0.2); print('{data}')"]}


def test_probes_are_run_timed_and_kept(checkout, stage, step):
    timed = replace(step("load"), setup=convert({"before": [{**PROBE, "name": "first"}], "after": [PROBE]}, StepSetup))
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
    checkout.plan(
        stage(
            "s-load", replace(step("load"), setup=convert({"after": [{"name": "dump", "command": command}]}, StepSetup))
        )
    )
    assert checkout.run("s-load").returncode == 1
    failure = checkout.failure("s-load")
    assert (failure["step"], failure["message"]) == ("load", message)


FATAL = (
    "FATAL: unable to connect to MySQL server on socket '/s', aborting...\nFATAL: error 1040: Too many connections\n"
)


def _ended(status):
    return ProcessEnd(status, False, "", "", 1.0, 0.5, 0.5, 0)


def _explain(folder, kind, process, *kept):
    planned = PlannedStep("readww", kind, 1, {}, {}, 7)
    step = StepRun(None, planned, folder, folder, AcceptedOptions({}), None, None, False, list)
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
def test_a_program_that_says_why_is_quoted(kind, status, output, said, tmp_path):
    (tmp_path / "stdout").write_text(output)
    assert _explain(tmp_path, kind, _ended(status)) == said


def test_a_full_disk_that_only_the_engines_own_log_tells(tmp_path):
    """An assertion stopped the program before it could say so, and the file that did not fit is gone."""
    (tmp_path / "stderr").write_text("db_bench: db/db_impl.cc:1: Assertion `s.ok()' failed.\n")
    (tmp_path / "LOG").write_text("[WARN] Background IO error IO error: No space left on device: While appending\n")
    assert _explain(tmp_path, "db_bench", _ended(-6), "LOG").startswith(f"the disk of {tmp_path} is full: ")
    assert _explain(tmp_path, "db_bench", _ended(-6)) == "it was killed by SIGABRT"


ENVIRONMENT = "import os; print(*sorted(f'{name}={value}' for name, value in os.environ.items()), sep='\\n')"


def test_variables_of_the_user_s_shell_reach_no_program(checkout, stage, step):
    """TZ, PATH and LD_LIBRARY_PATH did, and were in no identity."""
    planned = replace(step("load", ENVIRONMENT), setup=convert({"launch": {"env": {"MINE": "1"}}}, StepSetup))
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
