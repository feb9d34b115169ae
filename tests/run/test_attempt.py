"""Files of a step's folder, and clients of a job: what a command finds there, what is kept."""

import json
import os
import sys

import pytest
from msgspec import convert

from stepgrid.model.plan import Plan, PlannedBuild, PlannedReport
from stepgrid.model.records import StepSetup, replace
from stepgrid.run import attempt
from stepgrid.run.attempt import attach, keep_database_files
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid.workflow.remaining_work import RemainingWork
from tests.run import finished
from tests.run.conftest import BUILD, make_stage, make_step


def test_nobody_else_may_read_what_may_hold_a_password(tmp_path):
    attach(tmp_path, {"a": "secret", "b": ""})
    assert (tmp_path / "a").read_text() == "secret"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    attach(tmp_path, {"c": "configuration"}, 0o644)
    assert (tmp_path / "c").stat().st_mode & 0o044


def test_a_log_is_kept_from_a_file_and_into_a_file_alone(tmp_path):
    step, data, elsewhere = tmp_path / "step", tmp_path / "data", tmp_path / "elsewhere"
    for folder in (step, data):
        folder.mkdir()
    elsewhere.write_text("of someone else")
    (data / "LOG").write_text("said")
    (step / "LOG").symlink_to(elsewhere)
    (data / "linked").symlink_to(elsewhere)
    os.mkfifo(data / "pipe")
    keep_database_files(step, data, ["LOG", "linked", "pipe", "missing"])
    assert (step / "LOG").read_text() == "said"
    assert elsewhere.read_text() == "of someone else"
    assert [path.name for path in step.iterdir()] == ["LOG"]


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "step").mkdir()
    return tmp_path / "data"


def test_of_a_large_one_the_beginning_and_the_end(data, monkeypatch):
    monkeypatch.setattr(attempt, "MOST_BYTES", 8)
    (data / "LOG").write_text("firstxxxxxxlast")
    attempt.keep_database_files(data.parent / "step", data, ["LOG"])
    assert (data.parent / "step/LOG").read_text() == "firs\n… 7 bytes are left out here …\nlast"


CLIENT = PlannedBuild("b-c", "client-2.1", "client", "2.1", {"system": "python"})
SHOW = (
    "import os, sys; print(os.environ['CLIENT'], sys.dont_write_bytecode, open('a.txt').read(), open('b.txt').read())"
)


def _with_client(step, files=None):
    return replace(step, setup=convert({"client": "b-c"}, StepSetup), files=files or {})


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
    plan = Plan("p", "t", "a.yaml", None, (), (), (BUILD, CLIENT), (load, read), {"id": "h"}, PlannedReport())
    store = Store(tmp_path)
    finished.result(store, load)
    work = RemainingWork(plan, store, StatusReader(store, plan).read())
    assert work.lacking == {"b-1", "b-c", "s-read"}
    marks = [str(tmp_path / "marks" / "p" / "builds" / each.name) for each in (BUILD, CLIENT)]
    assert (work.required_marks("s-load"), work.required_marks("s-read")) == (marks, marks)
