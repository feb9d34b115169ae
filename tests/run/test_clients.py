"""A step's client is a build of its own: its programs, its version, and the files that the plan brings."""

import json
import sys
from dataclasses import replace

from stepgrid.model.plan import Plan, PlannedBuild, Report
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid.workflow.remaining_work import RemainingWork
from tests.run import finished
from tests.run.conftest import BUILD, make_stage, make_step

CLIENT = PlannedBuild("b-c", "client-2.1", "client", "2.1", {"system": "python"})
SHOW = (
    "import os, sys; print(os.environ['CLIENT'], sys.dont_write_bytecode, open('a.txt').read(), open('b.txt').read())"
)


def _with_client(step, files=None):
    return replace(step, setup={"client": "b-c"}, files=files or {})


def _make_client(checkout, **record):
    folder = checkout.store.build("b-c")
    folder.mkdir(parents=True)
    programs = {"python": [sys.executable, "-B"]}
    (folder / "build.json").write_text(
        json.dumps({"id": "b-c", "name": "c", "version": "2.1", "programs": programs} | record)
    )


def test_its_programs_win_and_its_files_are_there(checkout, stage, step):
    _make_client(checkout)
    brought = _with_client(step("show", SHOW, files={"b.txt": "own", "a.txt": "own"}), {"a.txt": "plan"})
    checkout.plan(stage("s-a", brought, step("plain", "print(1)")), builds=(BUILD, CLIENT))
    ended = checkout.run("s-a")
    assert ended.returncode == 0, ended.stderr
    folder = checkout.store.result("s-a") / "steps" / "0-show"
    assert (folder / "stdout").read_text() == "2.1 True own own\n"
    steps = checkout.result("s-a")["steps"]
    assert [each.get("client") for each in steps] == ["b-c", None]
    assert (checkout.attempt("s-a")["build"], checkout.attempt("s-a")["clients"]) == ("b-1", ["b-c"])


def test_a_client_that_is_not_there_is_named(checkout, stage, step):
    checkout.plan(stage("s-a", _with_client(step("show", SHOW))), builds=(BUILD, CLIENT))
    assert checkout.run("s-a").returncode == 1
    message = checkout.failure("s-a")["message"]
    path = checkout.store.build("b-c") / "build.json"
    assert message == f"the build client-2.1 is not there ({path.relative_to(checkout.folder)}); make it first"


def test_a_client_that_changed_is_refused(checkout, stage, step, tmp_path):
    binary = tmp_path / "binary"
    binary.write_text("one")
    file = {"path": str(binary), "bytes": 3, "modified": 0, "sha256": "0" * 64}
    _make_client(checkout, facts={"files": {"python": file}})
    checkout.plan(stage("s-a", _with_client(step("show", SHOW))), builds=(BUILD, CLIENT))
    assert checkout.run("s-a").returncode == 1
    assert checkout.failure("s-a")["message"].startswith(f"{binary} is not the binary that build c recorded: ")


def test_a_stage_waits_for_the_clients_of_all_that_it_may_run_again(tmp_path):
    load = make_stage("s-load", _with_client(make_step()), children=["s-read"])
    read = make_stage("s-read", make_step("read"), parent="s-load")
    plan = Plan("p", "t", "a.yaml", None, (), (), (BUILD, CLIENT), (load, read), {"id": "h"}, Report())
    store = Store(tmp_path)
    finished.result(store, load)
    work = RemainingWork(plan, store, StatusReader(store, plan).read())
    assert work.lacking == {"b-1", "b-c", "s-read"}
    marks = [str(tmp_path / "marks" / "p" / "builds" / each.name) for each in (BUILD, CLIENT)]
    assert (work.required_marks("s-load"), work.required_marks("s-read")) == (marks, marks)
