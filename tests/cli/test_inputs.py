"""A store that was filled before ids had the contents of files, and what an edit of such a file comes to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stepgrid.model.plan import Plan
from stepgrid.plan.assembly import compile_spec
from stepgrid.plugins import driver
from stepgrid.store import plans
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.cli.test_plan import Capture, built, kept, measured, told

pytestmark = pytest.mark.usefixtures("folder")
SPEC = """\
title: t
builds: {mine: {engine: program, version: "1.0", source: {debian: fio, suite: trixie}, flags: {programs: usr/bin/fio}}}
steps:
  - {name: put, kind: command, duration: 10m, argv: [sh, my.sh, "{data}"], mutates: true}
  - checkpoint: loaded
  - {name: get, kind: command, duration: 10m, argv: [cat, "{data}/x"]}
allow: {no-repeats: a test}
"""


@pytest.fixture
def old(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Measured as if the script and the programs had been no files: ids were made so."""
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        patch.setattr(driver, "SYSTEM_PATH", "")
        plan = kept()
    built(plan)
    measured(plan, plan.stages)
    (folder / "my.sh").write_text("one")
    return plan


def noted() -> None:
    """As the start of a run does."""
    plans.note_contents(Store(), kept().stages)


def test_a_filled_store_needs_nothing_measured_again(old: Plan, capsys: Capture) -> None:
    assert "  to do    nothing\n" in told(capsys)
    assert {stage.id for stage in host_plan.compile_for_host("a.yaml", None).stages} == {
        stage.id for stage in old.stages
    }


def test_an_edit_after_a_run_is_another_stage(folder: Path, old: Plan, capsys: Capture) -> None:
    noted()
    (folder / "my.sh").write_text("two")
    text = told(capsys)
    assert "  to do    measure: 2 stages, about 1m00s\n" in text
    assert "    files.my.sh: 7692c3ad3540 -> 3fc4ccfe7458\n" in text
    (folder / "my.sh").write_text("one")
    assert "  to do    nothing\n" in told(capsys)


def test_a_lost_result_does_not_make_the_others_new(old: Plan, capsys: Capture) -> None:
    noted()
    load = next(stage for stage in old.stages if stage.parent is None)
    shutil.rmtree(Store().results_of(load.id))
    assert "measure: 1 stage" in told(capsys)


def test_plan_writes_nothing(old: Plan, capsys: Capture) -> None:
    """But which warnings a person has seen."""
    before = _all_but_shown()
    told(capsys)
    assert _all_but_shown() == before


def _all_but_shown() -> list[Path]:
    return sorted(path for path in Path("outputs").rglob("*") if ".shown" not in path.parts)


def test_a_store_that_has_nothing_begins_with_contents(folder: Path, capsys: Capture) -> None:
    bare = host_plan.compile_for_host("a.yaml", None)
    (folder / "my.sh").write_text("one")
    assert not {stage.id for stage in bare.stages} & {
        stage.id for stage in host_plan.compile_for_host("a.yaml", None).stages
    }


def test_another_store_does_not_matter_to_a_pure_compilation(old: Plan) -> None:
    pure = compile_spec("a.yaml", None, host_plan.host_facts(Store()))
    assert not {stage.id for stage in pure.stages} & {stage.id for stage in old.stages}
