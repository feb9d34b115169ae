"""Files that a stage's commands read: they are what was planned, from the first step to the last."""

import hashlib

import pytest
from msgspec import convert

from stepgrid.model.plan import PlannedStep
from stepgrid.model.records import StepSetup, replace

READ = "print(open('../../../../../../my.txt').read())"  # of the step's folder, six below the checkout's


@pytest.fixture
def reading(checkout, stage, step):
    """A stage whose step reads my.txt."""

    def make(code=READ, planned="one"):
        (checkout.folder / "my.txt").write_text("one")
        checksum = hashlib.sha256(planned.encode()).hexdigest()
        setup = {"files": {"my.txt": checksum}, "inputs": {"my.txt": "my.txt"}}
        checkout.plan(stage("s-load", replace(step("load", code), setup=convert(setup, StepSetup))))
        checkout.build()
        return checkout.run("s-load")

    return make


def test_a_file_that_changed_since_the_plan(checkout, reading):
    assert reading(planned="two").returncode == 1
    failure = checkout.failure("s-load")
    assert (failure["step"], failure["message"]) == (
        "load",
        "`my.txt` changed after this run was planned: start the run again, which plans it anew",
    )
    assert not (checkout.store.attempts("s-load")[-1] / "steps").exists()


def test_a_file_that_the_stage_changes(checkout, reading):
    assert reading("open('../../../../../../my.txt', 'w').write('two')").returncode == 1
    assert checkout.failure("s-load")["message"] == (
        "`my.txt` changed while the stage ran: have programs write to `{folder}`, leave what they read alone, "
        "and start the run again"
    )


def test_a_file_that_is_gone(checkout, reading):
    assert reading("import os; os.remove('../../../../../../my.txt')").returncode == 1
    assert checkout.failure("s-load")["message"].startswith(
        "`my.txt` could not be read (No such file or directory) while the stage ran: "
    )


def test_files_that_nothing_names_are_noted_with_the_result(checkout, stage, step, tmp_path):
    """Files of the system, the database and the step's folder are no surprise, nor is what it writes."""
    (tmp_path / "hidden.cnf").write_text("1")
    code = f"""
import sys, time
open(sys.argv[1] + "/MANIFEST", "w").write("m")
own, read = open(sys.argv[1] + "/MANIFEST"), open({str(tmp_path / "hidden.cnf")!r})
written, system = open({str(tmp_path / "written")!r}, "w"), open("/etc/passwd")
time.sleep(2.5)
"""
    checkout.plan(stage("s-load", step("load", code)))
    assert checkout.run("s-load").returncode == 0
    [record] = checkout.result("s-load")["steps"]
    message = "it had files open that nothing names, whose changes go unnoticed"
    assert record["warnings"] == [f"{message}: {tmp_path / 'hidden.cnf'}"]


def command(code, name="one", **more):
    settings = {"argv": ["{program:python}", "-c", f"import os, time; os.chdir('{{data}}'); {code}"], "metrics": {}}
    return PlannedStep(name, "command", 1, {**settings, "duration": None, "series": None, "files": []}, {}, 7, **more)


@pytest.mark.parametrize(
    ("code", "is_told"),
    [
        ("open('rows', 'a').write('x')", True),
        ("open('more', 'w')", True),
        ("os.remove('rows')", True),
        ("time.sleep(0.5); open('rows', 'r+b').write(b'x')", True),
        ("open('rows', 'r+b').write(b'x'); time.sleep(1)", False),  # as SQLite's journal mode
        ("open('rows', 'rb').read()", False),
    ],
)
def test_a_step_that_changes_its_database_unsaid_is_told(checkout, stage, code, is_told):
    load = command("open('rows', 'w').write('rows')", "load", mutates=True)
    checkout.plan(stage("s-load", load, command(code), command("pass", "last")))
    assert checkout.run("s-load").returncode == 0
    warnings = [step.get("warnings") for step in checkout.result("s-load")["steps"]]
    told = ["the database changed: say `mutates: true`, as later steps use it"]
    assert warnings == [None, told if is_told else None, None]


def test_nothing_is_told_where_nothing_comes_after_or_the_step_says_it(checkout, stage):
    write = "open('rows', 'a').write('x')"
    checkout.plan(stage("s-load", command(write, mutates=True), command(write, "last")))
    assert checkout.run("s-load").returncode == 0
    assert [step.get("warnings") for step in checkout.result("s-load")["steps"]] == [None, None]


def test_a_load_that_other_stages_start_from_is_told(checkout, stage):
    load = stage("s-load", command("open('rows', 'a').write('x')"), children=("s-read",))
    checkout.plan(load, stage("s-read", command("pass", "read"), parent="s-load"))
    assert checkout.run("s-load").returncode == 0
    assert len(checkout.result("s-load")["steps"][0]["warnings"]) == 1
