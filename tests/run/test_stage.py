"""One stage as a process: what it leaves, and what it says."""

import json
import os
import re
import sys
import time
from dataclasses import replace

import pytest

from stepgrid.model.plan import PlannedBuild
from stepgrid.store import results
from tests.waiting import LONG


def test_a_stage_becomes_a_result(checkout, stage, step):
    checkout.plan(stage("s-load", step("load"), step("read", "print('ok')")))
    done = checkout.run("s-load")
    assert done.returncode == 0, done.stderr
    result = checkout.result("s-load")
    assert result["stage"] == "s-load"
    assert result["status"] == "done"
    assert result["reason"] is None
    assert result["build"] == "b-1"
    assert [(s["name"], s["kind"], s["status"], s["exit"]) for s in result["steps"]] == [
        ("load", "trial", "done", 0),
        ("read", "trial", "done", 0),
    ]
    assert result["started"] <= result["steps"][0]["started"] <= result["steps"][1]["ended"] <= result["ended"]
    assert checkout.store.mark("s-load").resolve() == checkout.store.result("s-load") / "result.json"
    assert str(checkout.store.mark("s-load").readlink()).startswith("../results/s-load/")
    assert checkout.live() == []
    assert checkout.store.attempts("s-load") == []


def test_a_step_leaves_its_files(checkout, stage, step):
    checkout.plan(stage("s-load", step("a b/c", "import os; print(os.environ['TRIAL'], os.environ['LC_ALL'])")))
    assert checkout.run("s-load", LD_PRELOAD="").returncode == 0
    folder = checkout.store.result("s-load") / "steps" / "0-a_b_c"
    assert (folder / "stdout").read_text() == "7 C\n"
    assert (folder / "stderr").read_text() == ""
    command = json.loads((folder / "command.json").read_text())
    assert command["argv"][0] == sys.executable
    assert command["env"] == {"TRIAL": "7"}
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    assert len(samples) >= 2
    record = json.loads((folder / "step.json").read_text())
    assert record["name"] == "a b/c"
    assert record["deadline"] == 1200
    assert record["dropped"] == []
    assert 0 < record["max_rss"] < 1 << 30
    assert 0 < record["user"] + record["system"] < record["seconds"] + 0.2
    attempt = checkout.attempt("s-load")
    assert attempt["image"] == {
        "parent": None,
        "method": "empty",
        "seconds": attempt["image"]["seconds"],
        "bytes": 0,
        "copied": 0,
        "replayed": False,
        "stages_replayed": [],
    }
    assert attempt["host"]["hardware"]["cores"] >= 1
    assert attempt["host"]["kernel"] == os.uname().release


def test_a_result_keeps_the_checksums_of_its_files(checkout, stage, step):
    checkout.plan(stage("s-load"))
    assert checkout.run("s-load").returncode == 0
    folder = checkout.store.result("s-load")
    files = checkout.result("s-load")["files"]
    there = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    readings = [name for name in there if results.READINGS.fullmatch(name)]
    assert sorted([*files, *readings, "result.json"]) == there
    assert [name.partition(".")[0] for name in readings] == ["figures", "samples"]
    assert results.checksum_difference(folder, files) is None
    assert list(checkout.result("s-load"))[-1] == "files"


def test_a_result_is_never_made_twice_and_its_mark_comes_back(checkout, stage, step):
    checkout.plan(stage())
    assert checkout.run("s-load").returncode == 0
    before = checkout.store.result("s-load")
    checkout.store.mark("s-load").unlink()
    assert checkout.run("s-load").returncode == 0
    assert checkout.store.results("s-load") == [before]
    assert checkout.store.mark("s-load").resolve() == before / "result.json"


def test_a_retried_stage_keeps_the_failed_attempt(checkout, stage, step):
    checkout.plan(stage("s-load", step("load", "import sys; sys.exit(3)")))
    assert checkout.run("s-load").returncode == 1
    assert checkout.run("s-load").returncode == 1
    assert len(checkout.store.attempts("s-load")) == 2


def test_an_exit_status(checkout, stage, step):
    code = "import sys; print('noise'); [print(f'line {n}', file=sys.stderr) for n in range(20)]; sys.exit(3)"
    checkout.plan(stage("s-load", step("first", "pass"), step("load", code)))
    done = checkout.run("s-load")
    assert done.returncode == 1
    failure = checkout.failure("s-load")
    assert failure["node"] == "s-load"
    assert failure["status"] == "failed"
    assert failure["step"] == "load"
    assert failure["message"] == "it ended with exit status 3"
    assert failure["tail"].splitlines() == [f"line {n}" for n in range(5, 20)]
    assert failure["log"] == f"outputs/attempts/s-load/{failure['attempt']}/steps/1-load/stderr"
    block = "failed: title of s-load\n  load: it ended with exit status 3\n  | line 5\n"
    assert block in done.stderr
    assert f"  | line 19\n  log: {failure['log']}\n" in done.stderr
    assert (checkout.folder / failure["log"]).is_file()
    assert not checkout.store.mark("s-load").is_symlink()
    assert checkout.live() == []


def test_no_secret_stays_of_a_program_that_died_before_it_read_it(checkout, stage, step):
    code, files = "open('word').read(); import os; os.abort()", {"word": "secret", "program": "text"}
    checkout.plan(stage("s-load", step("load", code, files=files, secrets=["word", "none"])))
    assert checkout.run("s-load").returncode == 1
    (folder,) = checkout.store.attempts("s-load")
    assert checkout.failure("s-load")["message"] == "it was killed by SIGABRT"
    assert {path.name for path in folder.glob("steps/0-load/*")} >= {"program", "stdout"}
    assert not list(folder.glob("steps/0-load/word"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("SIGSEGV", "it was killed by SIGSEGV"),
        ("SIGKILL", "it was killed by SIGKILL (by the kernel when memory runs out, or by someone)"),
    ],
)
def test_death_by_signal(checkout, stage, step, name, message):
    checkout.plan(stage("s-load", step("load", f"import os, signal; os.kill(os.getpid(), signal.{name})")))
    assert checkout.run("s-load").returncode == 1
    assert checkout.failure("s-load")["message"] == message


def test_a_missing_program(checkout, stage, step):
    checkout.plan(stage("s-load", step("load", program="none")))
    assert checkout.run("s-load").returncode == 1
    path = checkout.store.build("b-1") / "gone"
    assert checkout.failure("s-load")["message"] == f"the program {path} cannot be started: No such file or directory"


def test_a_program_that_the_build_lacks(checkout, stage, step):
    checkout.plan(stage("s-load", step("load", program="nowhere")))
    assert checkout.run("s-load").returncode == 1
    assert checkout.failure("s-load")["message"] == "no trial command can be made: 'nowhere'"


def test_a_missing_build(checkout, stage):
    checkout.plan(stage())
    (checkout.store.build("b-1") / "build.json").unlink()
    assert checkout.run("s-load").returncode == 1
    expected = "the build trial-1.0 is not there (outputs/builds/b-1/build.json); make it first"
    assert checkout.failure("s-load")["message"] == expected


def test_output_that_cannot_be_parsed_later_fails_now(checkout, stage, step):
    checkout.plan(stage("s-load", step("load", "print('1 op')", expect="2 ops")))
    assert checkout.run("s-load").returncode == 1
    failure = checkout.failure("s-load")
    assert failure["message"] == "stdout has no line with '2 ops'"
    assert failure["tail"] == "1 op"
    step_file = checkout.store.attempts("s-load")[-1] / "steps/0-load/step.json"
    assert json.loads(step_file.read_text())["status"] == "failed"


def test_a_deadline_stops_a_step_that_hangs(checkout, stage, step):
    code = "import signal, time; signal.signal(signal.SIGTERM, lambda *_: (print('asked'), exit(0))); time.sleep(60)"
    checkout.plan(stage("s-load", step("load", code, duration=0.5)))
    assert checkout.run("s-load", STEPGRID_GRACE="0.5").returncode == 1
    failure = checkout.failure("s-load")
    assert failure["message"] == "it did not end within 1 s, and was stopped"
    assert failure["tail"] == "asked"


def test_what_a_step_leaves_behind_in_its_group_ends_with_it(checkout, stage, step, until, gone):
    code = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid)"
    checkout.plan(stage("s-load", step("load", code)))
    assert checkout.run("s-load").returncode == 0
    pid = int((checkout.store.result("s-load") / "steps/0-load/stdout").read_text())
    until(lambda: gone(pid))


def test_an_unsupported_parent_makes_the_stage_unsupported(checkout, stage, step):
    load = stage("s-load", children=["s-read"])
    checkout.plan(load, stage("s-read", parent="s-load"))
    attempt = checkout.store.new_attempt("s-load")
    (attempt / "result.json").write_text(json.dumps({"status": "unsupported", "reason": "trial-1.0 has no option x"}))
    checkout.store.publish_result("s-load", attempt)
    assert checkout.run("s-read").returncode == 0
    result = checkout.result("s-read")
    assert (result["status"], result["reason"]) == ("unsupported", "trial-1.0 has no option x")
    assert result["steps"] == []


def test_another_host_than_the_declared_one(checkout, stage):
    hardware = {"id": "h", "declared": True, "cores": 4096, "memory": 1 << 60}
    checkout.plan(stage(), hardware=hardware)
    assert checkout.run("s-load").returncode == 1
    message = checkout.failure("s-load")["message"]
    assert message.startswith("this is not the hardware of the spec: cores: the spec says 4096, this host has ")
    assert "; memory: the spec says 1 EiB, this host has " in message


def test_of_several_machines_the_one_of_the_stage_counts(checkout, stage):
    machines = {"h": {"id": "h", "declared": False}, "big": {"id": "big", "declared": True, "cores": 4096}}
    checkout.plan(stage(), replace(stage("s-big"), hardware="big"), machines=machines)
    assert checkout.run("s-load").returncode == 0
    assert checkout.run("s-big").returncode == 1
    assert "cores: the spec says 4096, this host has " in checkout.failure("s-big")["message"]


def test_a_damaged_build_is_a_sentence(checkout, stage):
    checkout.plan(stage())
    (checkout.store.build("b-1") / "build.json").write_text('{"id"')
    assert checkout.run("s-load").returncode == 1
    assert checkout.failure("s-load")["message"] == (
        "outputs/builds/b-1/build.json is damaged; run the same command again, which makes the build again"
    )


def test_an_estimate_beyond_all_clocks(checkout, stage, step):
    checkout.plan(stage("s-load", step("load", "pass", estimate=1e30)))
    assert checkout.run("s-load").returncode == 0, checkout.failure("s-load")


def test_a_broken_result_is_put_aside_and_the_older_one_stands_again(checkout, stage):
    checkout.plan(stage())
    assert checkout.run("s-load").returncode == 0
    sound = checkout.store.result("s-load")
    attempt = checkout.store.new_attempt("s-load")
    (attempt / "result.json").write_text('{"stage')
    checkout.store.publish_result("s-load", attempt)
    done = checkout.run("s-load")
    assert (done.returncode, checkout.store.result("s-load")) == (0, sound)
    assert "is broken: result.json cannot be read (" in done.stderr
    assert checkout.store.mark("s-load").resolve() == sound / "result.json"
    assert checkout.failure("s-load")["status"] == "broken"


def test_no_such_stage_and_no_such_plan(checkout, stage):
    checkout.plan(stage())
    done = checkout.run("s-other")
    assert done.returncode == 2
    assert done.stderr == "the plan p has no stage s-other here: outputs/plans/p/stages.jsonl has no s-other\n"


def test_a_fault_of_ours_is_a_failure_with_its_traceback_kept(checkout, stage):
    build = PlannedBuild("b-1", "trial-1.0", "no-such-engine", "1.0", {})
    checkout.plan(stage("s-load", children=["s-read"]), stage("s-read", parent="s-load"), builds=[build])
    done = checkout.run("s-load")
    assert done.returncode == 1
    failure = checkout.failure("s-load")
    assert failure["message"].startswith("a fault of stepgrid itself (PluginError: ")
    assert "Traceback" in (checkout.folder / failure["log"]).read_text()
    assert "Traceback" not in done.stderr


def test_two_runners_of_one_stage(checkout, stage, step, until):
    go = checkout.folder / "go"
    checkout.plan(
        stage("s-load", step("load", f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(.02)"))
    )
    first = checkout.start("s-load")
    until(lambda: list(checkout.store.root.glob("attempts/s-load/*/steps/0-load/stdout")))
    second = checkout.start("s-load")
    assert second.stderr is not None
    assert second.stderr.readline() == f"waiting: another process ({first.pid}) runs title of s-load\n"
    go.touch()
    assert (first.wait(LONG), second.wait(LONG), second.stderr.read()) == (0, 0, "")
    assert len(checkout.store.results("s-load")) == 1


def test_measuring_waits_for_a_build_and_says_so(checkout, stage, until):
    from stepgrid.host.locks import locked

    checkout.plan(stage())
    with locked(checkout.folder / "host.lock", shared=True):
        runner = checkout.start("s-load")
        until(lambda: checkout.store.attempts("s-load"))
        line = until(lambda: next((s for s in iter(runner.stderr.readline, "") if "waiting for" in s), None))
        assert line.startswith(f"waiting for the host: process {os.getpid()} (")
        assert not checkout.store.results("s-load")
        time.sleep(1.1)
    assert runner.wait(LONG) == 0
    assert re.search(r": done in \d+s, after waiting \d+s\n$", runner.stderr.read())
