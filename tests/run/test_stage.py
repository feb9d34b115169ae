"""A stage as a process: what it leaves, what it says, and what it does when the machine gives it trouble."""

import hashlib
import json
import os
import sys
import time

import pytest
from msgspec import convert

from stepgrid.model.plan import PlannedBuild
from stepgrid.model.records import Files, replace
from stepgrid.store import results
from tests.cases import rows
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
    folder = checkout.store.result("s-load")
    there = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    readings = [name for name in there if results.READINGS.fullmatch(name)]
    assert sorted([*result["files"], *readings, "result.json"]) == there
    assert results.checksum_difference(folder, convert(result["files"], Files)) is None
    checkout.store.mark("s-load").unlink()
    assert checkout.run("s-load").returncode == 0
    assert checkout.store.results("s-load") == [folder], "it is never made twice, and its mark comes back"
    assert checkout.store.mark("s-load").resolve() == folder / "result.json"


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


NOISY = "import sys; print('noise'); [print(f'line {n}', file=sys.stderr) for n in range(20)]; sys.exit(3)"
LISTENS = "import signal, time; signal.signal(signal.SIGTERM, lambda *_: (print('asked'), exit(0))); time.sleep(60)"
SMALL_FILES = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
open(sys.argv[1] + "/data", "wb").write(bytes(2000))
"""
# settings of a step, the sentence, and the end of the log that is shown with it
FAILURES = [
    ({"code": NOISY}, "it ended with exit status 3", "\n".join(f"line {n}" for n in range(5, 20))),
    ({"code": "import os; os.kill(os.getpid(), 11)"}, "it was killed by SIGSEGV", ""),
    (
        {"code": "import os; os.kill(os.getpid(), 9)"},
        "it was killed by SIGKILL (by the kernel when memory runs out, or by someone)",
        "",
    ),
    ({"code": SMALL_FILES}, "it was killed by SIGXFSZ (a file grew beyond the limit of `ulimit -f`)", ""),
    ({"program": "none"}, "the program BUILD/gone cannot be started: No such file or directory", ""),
    ({"program": "nowhere"}, "no trial command can be made: 'nowhere'", ""),
    ({"code": "print('1 op')", "expect": "2 ops"}, "stdout has no line with '2 ops'", "1 op"),
    ({"code": LISTENS, "duration": 0.5}, "it did not end within 1 s, and was stopped", "asked"),
]


@pytest.mark.parametrize(("settings", "message", "tail"), FAILURES)
def test_a_step_that_fails_says_why(checkout, stage, step, settings, message, tail):
    checkout.plan(stage("s-load", step("first", "pass"), step("load", **settings)))
    done = checkout.run("s-load", STEPGRID_GRACE="0.5")
    assert done.returncode == 1
    failure = checkout.failure("s-load")
    assert (failure["node"], failure["status"], failure["step"]) == ("s-load", "failed", "load")
    assert failure["message"] == message.replace("BUILD", str(checkout.store.build("b-1")))
    assert failure["tail"] == tail
    assert f"failed: title of s-load\n  load: {failure['message']}\n" in done.stderr
    if tail:
        folder = checkout.store.attempts("s-load")[-1] / "steps" / "1-load"
        assert json.loads((folder / "step.json").read_text())["status"] == "failed"
        assert f"  | {tail.splitlines()[-1]}\n  log: {failure['log']}\n" in done.stderr
        assert (checkout.folder / failure["log"]).parent == folder
    assert not checkout.store.mark("s-load").is_symlink()
    assert checkout.live() == []
    assert checkout.store.results("s-load") == []


@pytest.mark.parametrize(("text", "message"), rows(__file__, "a_build_that_is_missing_or_damaged"))
def test_a_build_that_is_missing_or_damaged(checkout, stage, text, message):
    checkout.plan(stage())
    (checkout.store.build("b-1") / "build.json").unlink()
    if text:
        (checkout.store.build("b-1") / "build.json").write_text(text)
    for attempts in (1, 2):
        assert checkout.run("s-load").returncode == 1
        assert checkout.failure("s-load")["message"] == message
        assert len(checkout.store.attempts("s-load")) == attempts, "each failed attempt is kept"


def test_no_secret_stays_of_a_program_that_died_before_it_read_it(checkout, stage, step):
    code, files = "open('word').read(); import os; os.abort()", {"word": "secret", "program": "text"}
    checkout.plan(stage("s-load", step("load", code, files=files, secrets=["word", "none"])))
    assert checkout.run("s-load").returncode == 1
    (folder,) = checkout.store.attempts("s-load")
    assert checkout.failure("s-load")["message"] == "it was killed by SIGABRT"
    assert {path.name for path in folder.glob("steps/0-load/*")} >= {"program", "stdout"}
    assert not list(folder.glob("steps/0-load/word"))


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
    reason = "trial-1.0 has no option x"
    record = {"stage": "s-load", "status": "unsupported", "reason": reason}
    (attempt / "result.json").write_text(json.dumps(record))
    checkout.store.publish_result("s-load", attempt)
    assert checkout.run("s-read").returncode == 0
    result = checkout.result("s-read")
    assert (result["status"], result["reason"]) == ("unsupported", "trial-1.0 has no option x")
    assert result["steps"] == []


def test_another_host_than_the_declared_one(checkout, stage):
    """Of several machines that of the stage counts."""
    big = {"id": "big", "declared": True, "cores": 4096, "memory": 1 << 60}
    machines = {"h": {"id": "h", "declared": False}, "big": big}
    checkout.plan(stage(), replace(stage("s-big"), hardware="big"), machines=machines)
    assert checkout.run("s-load").returncode == 0
    assert checkout.run("s-big").returncode == 1
    message = checkout.failure("s-big")["message"]
    assert message.startswith("this is not the hardware of the spec: cores: the spec says 4096, this host has ")
    assert "; memory: the spec says 1 EiB, this host has " in message


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
    assert done.stderr == "the plan p has no stage s-other here: s-other\n"


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
    (result,) = checkout.store.results("s-load")
    assert json.loads((result / "result.json").read_text())["waited"] > 1


def _system(checkout, program):
    """As the build's record names a program of this machine."""
    status = program.stat()
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    file = {"path": str(program), "bytes": status.st_size, "modified": status.st_mtime_ns, "sha256": digest}
    path = checkout.store.build("b-1") / "build.json"
    record = json.loads(path.read_text()) | {"name": "trial-1.0", "facts": {"files": {"python": file}}}
    path.write_text(json.dumps(record | {"programs": {"python": [str(program)]}}))


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_program_that_was_replaced_is_not_measured_under_the_old_name(checkout, stage, step, when):
    program = checkout.folder / "python"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    _system(checkout, program)
    replace = f"open({str(program)!r}, 'a').write('# another')"
    checkout.plan(stage("s-load", step("load", replace if when == "meanwhile" else "pass")))
    if when == "before":
        program.write_text("#!/bin/sh\n")
    assert checkout.run("s-load").returncode == 1
    assert checkout.failure("s-load")["message"] == (
        f"{program} is not the binary that build trial-1.0 recorded: "
        "run the same command again, and the binary that is there now is measured as a build of its own"
    )
    assert checkout.store.results("s-load") == []


def test_a_database_that_cannot_be_kept_does_not_cost_the_measurement(checkout, stage):
    checkout.plan(stage("s-load", children=["s-read"]), stage("s-read", parent="s-load"))
    (checkout.store.root / "images").mkdir()
    checkout.store.image("s-load").symlink_to("nowhere")  # no folder can take its place
    done = checkout.run("s-load")
    assert done.returncode == 0, done.stderr
    assert checkout.result("s-load")["status"] == "done"
    assert "title of s-load: its database could not be kept ([Errno " in done.stderr
    assert list(checkout.store.leftovers()) == []
    assert "): every stage that starts from it will have to run it again\n" in done.stderr
    assert checkout.live() == []


def test_a_live_folder_that_cannot_be_removed_does_not_cost_the_measurement(checkout, stage, step):
    """What a step leaves running outside its group may still write there."""
    writer = (
        "import os, sys, time; end = time.time() + 1.5\n"
        "while time.time() < end: os.makedirs(sys.argv[1] + '/x', exist_ok=True); open(sys.argv[1] + '/x/y', 'a')"
    )
    launch = "import subprocess, sys; "
    code = f"{launch}subprocess.Popen([sys.executable, '-c', {writer!r}, sys.argv[1]], start_new_session=True)"
    checkout.plan(stage("s-load", step("load", code)))
    done = checkout.run("s-load")
    assert done.returncode == 0, done.stderr
    assert checkout.result("s-load")["status"] == "done"


def test_a_plan_that_goes_away_meanwhile_does_not_cost_the_measurement(checkout, stage, step):
    folder = checkout.store.plan("p").resolve()
    checkout.plan(stage("s-load", step("load", f"import shutil; shutil.rmtree({str(folder)!r})")))
    done = checkout.run("s-load")
    assert done.returncode == 0, done.stderr
    assert checkout.result("s-load")["status"] == "done"


def test_outputs_that_are_removed_while_it_runs(checkout, stage, step):
    code = f"import shutil; shutil.rmtree({str(checkout.store.root)!r})"
    checkout.plan(stage("s-load", step("load", code)))
    done = checkout.run("s-load")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "failed: title of s-load"
    assert lines[1].startswith("  outputs/attempts/s-load/")
    assert lines[1].endswith(" was removed while it ran")
    assert "Traceback" not in done.stderr


def test_too_few_open_files(checkout, stage):
    """The loader of Python itself needs some: fewer than a runner needs, enough to say so."""
    checkout.plan(stage())
    limited = (
        "import os, resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (7, 7))\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    plain = checkout.command("s-load")
    checkout.command = lambda name: [sys.executable, "-c", limited, *plain]
    done = checkout.run("s-load")
    assert done.returncode == 1
    assert "the system refused: [Errno 24] Too many open files" in done.stderr
    assert "Traceback" not in done.stderr
    checkout.command = lambda name: plain
    assert checkout.run("s-load").returncode == 0


@pytest.mark.parametrize(
    ("code", "message"), rows(__file__, "nothing_is_written_through_what_a_program_put_in_the_way")
)
def test_nothing_is_written_through_what_a_program_put_in_the_way(checkout, stage, step, code, message):
    etc = checkout.folder / "etc"
    etc.mkdir()
    (etc / "secret").write_text("of the system")
    files = {"secret": "a password"}
    checkout.plan(stage("s-load", step("load", code.format(etc=str(etc)), files=files, secrets=["secret"])))
    assert checkout.run("s-load").returncode == 1
    assert checkout.failure("s-load")["message"] == message
    assert {path.name: path.read_text() for path in etc.iterdir()} == {"secret": "of the system"}
    assert checkout.store.results("s-load") == []
