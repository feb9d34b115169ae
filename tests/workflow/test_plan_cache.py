"""Nothing to do is answered without compiling, and only when nothing of it is lost."""

import os
import shutil
from pathlib import Path

import pytest

from stepgrid import pipeline
from stepgrid.cli import main
from stepgrid.plan import assembly
from stepgrid.store.plans import Request
from stepgrid.store.store import Store, SummaryFiles
from stepgrid.workflow import host_plan, plan_cache, run_request
from tests.run import finished

REQUEST = Request("spec.yaml")
LOCK = "sources:\n  maven x:y:1: sha256:{:064}\n"


@pytest.fixture
def measured(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    run_request.requested_plan.cache_clear()
    return finished.make(tmp_path / "bin")


def _refuse(*_, **__):
    raise AssertionError("compiled")


def test_it_compiles_nothing(measured, monkeypatch, capsys):
    run_request.requested_plan.cache_clear()
    monkeypatch.setattr(assembly, "compile_spec", _refuse)
    assert main(["run", "spec.yaml"]) == 0
    folder = Store().summary(measured[1].digest)
    said = f"nothing to do: 4 cells, 6 stages measured\n\n{folder}/index.html\n"
    assert capsys.readouterr().out == said


EDITS = {
    "the spec": lambda _: Path("spec.yaml").write_text(f"{finished.SPEC}# a comment\n"),
    "an include": lambda _: Path("library.yaml").write_text(finished.LIBRARY.replace("1MiB", "2MiB")),
    "an include is gone": lambda _: Path("library.yaml").unlink(),
    "a patch": lambda _: Path("a.patch").write_text("another"),
    "a lock file appears": lambda _: Path("spec.lock.yaml").write_text(LOCK.format(1)),
    "the program": lambda programs: (programs / "the-engine").write_text("#!/bin/bash\n"),
    "the program is gone": lambda programs: (programs / "the-engine").unlink(),
}


@pytest.mark.parametrize("edit", EDITS)
def test_any_change_of_what_was_read_compiles_again(edit, measured, tmp_path):
    assert plan_cache.find(measured[0], REQUEST)
    EDITS[edit](tmp_path / "bin")
    assert plan_cache.find(measured[0], REQUEST) is None


@pytest.mark.parametrize("name", ["code", "host"])
def test_other_code_or_another_host_compiles_again(name, measured, monkeypatch):
    assert plan_cache.find(measured[0], REQUEST)
    if name == "code":
        monkeypatch.setattr(plan_cache, "code_digest", lambda: "another")
    else:
        monkeypatch.setattr(host_plan, "host_facts", lambda store: {"cpu": "another"})
    assert plan_cache.find(measured[0], REQUEST) is None


def _result(measured):
    found = measured[0].result(measured[1].stages[0].id)
    assert found is not None
    return found


LOSSES = {
    "a result": lambda m: shutil.rmtree(_result(m)),
    "its stage's folder": lambda m: shutil.rmtree(_result(m).parent),
    "its record": lambda m: (_result(m) / "result.json").unlink(),
    "what its record says": lambda m: (_result(m) / "result.json").write_text("{}"),
    "its steps": lambda m: shutil.rmtree(_result(m) / "steps"),
    "one of its steps": lambda m: next((_result(m) / "steps").iterdir()).rmdir(),
    "a build of a lost result": lambda m: (shutil.rmtree(m[0].build(m[1].builds[0].id)), shutil.rmtree(_result(m))),
    "the tables": lambda m: SummaryFiles.of(m[0], m[1].digest).tables.unlink(),
    "the summary": lambda m: SummaryFiles.of(m[0], m[1].digest).text.unlink(),
    "the page": lambda m: SummaryFiles.of(m[0], m[1].digest).page.unlink(),
    "a stamp": lambda m: m[0].drop_stamps(m[1].digest),
    "an old summary": lambda m: os.utime(SummaryFiles.of(m[0], m[1].digest).text, (1, 1)),
}


def _is_over():
    return pipeline.remaining_work({"spec": "spec.yaml"}).is_over


@pytest.mark.parametrize("loss", LOSSES)
def test_any_loss_is_work(loss, measured):
    assert _is_over()
    LOSSES[loss](measured)
    assert not _is_over()


KEPT = {
    "a mark": lambda m: m[0].mark(m[1].stages[0].id).unlink(),
    "the plan": lambda m: shutil.rmtree(m[0].plan(m[1].digest)),
    "what was remembered": lambda m: m[0].request_note(REQUEST.key).write_text("{"),
}


@pytest.mark.parametrize("loss", KEPT)
def test_what_can_be_made_again_is_no_work(loss, measured):
    KEPT[loss](measured)
    run_request.requested_plan.cache_clear()
    assert _is_over()
