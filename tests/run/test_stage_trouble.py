"""What a stage does when the machine gives it trouble: a program replaced, a disk that refuses, a plan that is gone."""

import hashlib
import json
import sys

import pytest


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
    assert lines[1] == "failed: title of s-load"
    assert lines[2].startswith("  outputs/attempts/s-load/")
    assert lines[2].endswith(" was removed while it ran")
    assert "Traceback" not in done.stderr


def test_a_file_that_may_not_grow(checkout, stage, step):
    code = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
open(sys.argv[1] + "/data", "wb").write(bytes(2000))
"""
    checkout.plan(stage("s-load", step("load", code)))
    assert checkout.run("s-load").returncode == 1
    said = "it was killed by SIGXFSZ (a file grew beyond the limit of `ulimit -f`)"
    assert checkout.failure("s-load")["message"] == said


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
    ("code", "message"),
    [
        (
            "import os, shutil; home = os.getcwd(); os.chdir('/'); shutil.rmtree(home); os.symlink({etc!r}, home)",
            "it replaced its folder, where its output is kept: let it write into that folder",
        ),
        (
            "import os; home = os.getcwd(); os.rename(home, home + '~'); os.mkdir(home)",
            "it replaced its folder, where its output is kept: let it write into that folder",
        ),
        (
            "import os; os.remove('stdout'); os.mkfifo('stdout')",
            "it put something else in place of stdout, a file of stepgrid: use another name",
        ),
        (
            "import os; os.symlink({etc!r} + '/x', 'step.json')",
            "it put something else in place of step.json, a file of stepgrid: use another name",
        ),
        (
            "import os; os.symlink({etc!r} + '/x', '.writable'); exit(3)",
            "it put something else in place of .writable, a file of stepgrid: use another name",
        ),
        (
            "import os; os.symlink({etc!r}, 'collectors')",
            "it put something else in place of collectors, a folder of stepgrid: use another name",
        ),
        (
            "open('command.json', 'w').write('[]')",
            "it changed command.json, a file of stepgrid: use another name",
        ),
        (
            "import os; os.remove('command.json'); os.symlink({etc!r} + '/x', 'command.json')",
            "it put something else in place of command.json, a file of stepgrid: use another name",
        ),
    ],
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
