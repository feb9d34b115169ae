"""A client's build is a node of the plan as the engine's is: planned, listed, told, held by a lock, kept by gc."""

from __future__ import annotations

import json

import pytest

from stepgrid.build.pins import moving_sources
from stepgrid.cli import main
from stepgrid.host.files import write_json
from stepgrid.model.plan import Plan, PlannedBuild
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid.workflow.remaining_work import remaining_work
from tests.cli.test_plan import kept

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("folder")
SPEC = """\
title: t
builds: {mariadb: {engine: mariadb, version: 11.8.1, source: {debian: mariadb-server, suite: trixie}}}
define:
  builds:
    sysbench: {engine: sysbench, version: 1.0.20, source: {git: "https://host.example/s.git", ref: 1.0.20}}
    unused: {engine: sysbench, version: 1.0.19, source: {system: sysbench}}
steps: [{name: point, kind: sysbench, lua: point_query, duration: 1s, rows: 10}]
allow: {no-repeats: a test, step-short: a test}
"""


def _client(plan: Plan) -> PlannedBuild:
    return next(build for build in plan.builds if build.engine == "sysbench")


def _failed(plan: Plan) -> Store:
    """Its newest attempt failed."""
    store = Store()
    attempt = store.new_attempt(_client(plan).id)
    write_json(attempt / "failure.json", {"message": "no autoconf", "status": "failed", "log": "build.log"})
    return store


def test_the_plan_says_which_cells_need_it(capsys: Capture) -> None:
    assert main(["plan", "a.yaml", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    nodes = {node["title"]: node for node in found["nodes"] if node["kind"] == "build"}
    assert sorted(nodes) == ["mariadb", "sysbench"]
    assert nodes["sysbench"]["cells"] == nodes["mariadb"]["cells"] == [found["cells"][0]["id"]]


def test_builds_lists_it(capsys: Capture) -> None:
    assert main(["builds", "a.yaml"]) == 0
    assert "\nsysbench: missing, sysbench 1.0.20\n" in capsys.readouterr().out


def test_a_lock_file_holds_its_source_still() -> None:
    ((name, found),) = moving_sources([kept()]).items()
    assert (name, sorted(found.names)) == ("git https://host.example/s.git 1.0.20", ["sysbench"])


def test_a_run_makes_it_first() -> None:
    plan = kept()
    found = remaining_work(plan, Store())
    assert found.lacking == {build.id for build in plan.builds} | {plan.stages[0].id}
    marks = [f"outputs/marks/{plan.digest}/builds/{build.name}" for build in plan.builds]
    assert sorted(found.required_marks(plan.stages[0].id)) == sorted(marks)


def test_what_lacks_a_client_that_failed_says_why() -> None:
    plan = kept()
    found = StatusReader(_failed(plan), plan).read().nodes[plan.stages[0].id]
    assert (found.status, found.reason) == ("blocked", "build sysbench: no autoconf")
    assert found.cause == _client(plan).id


def test_gc_keeps_it(capsys: Capture) -> None:
    plan = kept()
    for node in (_client(plan).id, "b-0"):
        Store().build(node).mkdir(parents=True)
        write_json(Store().build(node) / "build.json", {})
    assert main(["gc", "a.yaml"]) == 0
    said = capsys.readouterr().out
    assert ("builds/b-0" in said, _client(plan).id in said) == (True, False)
