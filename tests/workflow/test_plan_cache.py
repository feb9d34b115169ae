"""Nothing to do is answered without compiling, and only when nothing of it is lost."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from stepgrid import pipeline
from stepgrid.build import pins
from stepgrid.cli import main
from stepgrid.model.plan import Plan
from stepgrid.plan import assembly
from stepgrid.store import plans
from stepgrid.store.plans import Request
from stepgrid.store.store import Store, SummaryFiles
from stepgrid.workflow import host_plan, plan_cache, run_request
from stepgrid.workflow.host_plan import ALL_WARNINGS
from tests.run import finished

Measured: TypeAlias = tuple[Store, Plan]
REQUEST = Request("spec.yaml")
LOCK = "sources:\n  maven x:y:1: sha256:{:064}\n"


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measured:
    (tmp_path / "bin").mkdir()
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    run_request.requested_plan.cache_clear()
    return finished.make(tmp_path / "bin")


def _refuse(*_: object, **__: object) -> None:
    raise AssertionError("compiled")


def test_it_compiles_nothing(
    measured: Measured, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_request.requested_plan.cache_clear()
    monkeypatch.setattr(assembly, "compile_spec", _refuse)
    assert main(["run", "spec.yaml"]) == 0
    folder = Store().summary(measured[1].digest)
    said = f"nothing to do: 4 cells, 6 stages measured\n\n{folder}/index.html\n"
    assert capsys.readouterr().out == said


def test_it_says_what_a_full_look_says(
    measured: Measured, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(ALL_WARNINGS, "1")
    assert main(["run", "spec.yaml"]) == 0
    short = capsys.readouterr()
    shutil.rmtree(measured[0].request_note("").parent)
    run_request.requested_plan.cache_clear()
    assert main(["run", "spec.yaml"]) == 0
    assert capsys.readouterr() == short
    assert "warning[" in short.err


def test_the_kept_plan_is_the_compiled_one(measured: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    run_request.requested_plan.cache_clear()
    monkeypatch.setattr(assembly, "compile_spec", _refuse)
    assert run_request.requested_plan(Request("spec.yaml")) == measured[1]


EDITS: dict[str, Callable[[Path], object]] = {
    "the spec": lambda _: Path("spec.yaml").write_text(f"{finished.SPEC}# a comment\n"),
    "an include": lambda _: Path("library.yaml").write_text(finished.LIBRARY.replace("1MiB", "2MiB")),
    "an include is gone": lambda _: Path("library.yaml").unlink(),
    "a patch": lambda _: Path("a.patch").write_text("another"),
    "a lock file appears": lambda _: Path("spec.lock.yaml").write_text(LOCK.format(1)),
    "the program": lambda programs: (programs / "the-engine").write_text("#!/bin/bash\n"),
    "the program is gone": lambda programs: (programs / "the-engine").unlink(),
}


@pytest.mark.parametrize("edit", EDITS)
def test_any_change_of_what_was_read_compiles_again(edit: str, measured: Measured, tmp_path: Path) -> None:
    assert plan_cache.find(measured[0], REQUEST)
    EDITS[edit](tmp_path / "bin")
    assert plan_cache.find(measured[0], REQUEST) is None


def test_a_changed_lock_file_compiles_again(measured: Measured) -> None:
    EDITS["a lock file appears"](Path())
    finished.measure(measured[0])
    assert plan_cache.find(measured[0], REQUEST)
    Path("spec.lock.yaml").write_text(LOCK.format(2))
    assert plan_cache.find(measured[0], REQUEST) is None


@pytest.mark.parametrize(
    "other",
    [
        Request("./spec.yaml"),
        Request("spec.yaml", "more"),
        Request("spec.yaml", None, "bits == '5'"),
        Request("spec.yaml", None, None, ("params.keys=2M",)),
    ],
)
def test_another_request_is_another(other: Request, measured: Measured) -> None:
    assert plan_cache.find(measured[0], other) is None


@pytest.mark.parametrize("name", ["code", "host"])
def test_other_code_or_another_host_compiles_again(
    name: str, measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plan_cache.find(measured[0], REQUEST)
    if name == "code":
        monkeypatch.setattr(plan_cache, "code_digest", lambda: "another")
    else:
        monkeypatch.setattr(host_plan, "host_facts", lambda store: {"cpu": "another"})
    assert plan_cache.find(measured[0], REQUEST) is None


def test_code_is_told_by_size_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "compiler" / "stepgrid"
    for folder in (package / "inner", tmp_path / "templates"):
        folder.mkdir(parents=True)
    source = package / "inner" / "module.py"
    source.write_text("a = 1\n")
    monkeypatch.setattr(plan_cache, "PACKAGE", package)
    first = plan_cache.code_digest.__wrapped__()
    assert plan_cache.code_digest.__wrapped__() == first
    os.utime(source, ns=(1, 1))
    touched = plan_cache.code_digest.__wrapped__()
    source.write_text("a = 10\n")
    os.utime(source, ns=(1, 1))
    assert len({first, touched, plan_cache.code_digest.__wrapped__()}) == 3


def _result(measured: Measured) -> Path:
    found = measured[0].result(measured[1].stages[0].id)
    assert found is not None
    return found


LOSSES: dict[str, Callable[[Measured], object]] = {
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


def _is_over() -> bool:
    return pipeline.remaining_work({"spec": "spec.yaml"}).is_over


@pytest.mark.parametrize("loss", LOSSES)
def test_any_loss_is_work(loss: str, measured: Measured) -> None:
    assert _is_over()
    LOSSES[loss](measured)
    assert not _is_over()


KEPT: dict[str, Callable[[Measured], object]] = {
    "a mark": lambda m: m[0].mark(m[1].stages[0].id).unlink(),
    "the plan": lambda m: shutil.rmtree(m[0].plan(m[1].digest)),
    "what was remembered": lambda m: m[0].request_note(REQUEST.key).write_text("{"),
}


@pytest.mark.parametrize("loss", KEPT)
def test_what_can_be_made_again_is_no_work(loss: str, measured: Measured) -> None:
    KEPT[loss](measured)
    run_request.requested_plan.cache_clear()
    assert _is_over()


def test_a_stage_that_was_recorded_as_unsupported_has_no_steps(measured: Measured) -> None:
    store, plan = measured
    result = _result(measured)
    shutil.rmtree(result / "steps")
    (result / "result.json").write_text(f'{{"stage": "{plan.stages[0].id}", "status": "unsupported"}}')
    finished.summarize(store, plan)
    assert _is_over()


def test_a_lost_plan_is_compiled_and_kept_again(measured: Measured) -> None:
    shutil.rmtree(measured[0].plan(measured[1].digest))
    run_request.requested_plan.cache_clear()
    assert pipeline.remaining_work({"spec": "spec.yaml"}).is_over
    assert measured[0].has_plan(measured[1].digest)
    assert plan_cache.find(measured[0], REQUEST)


# A build of a local tree

TREE_SPEC = """\
title: t
builds: {r: {engine: rocksdb, version: 1.0.1, source: {path: tree}}}
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1M}
"""
TREE_REQUEST = Request("a.yaml")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.chdir(tmp_path)
    Path("tree").mkdir()
    Path("tree/a.c").write_text("one")
    Path("a.yaml").write_text(TREE_SPEC)
    store = Store()
    now = time.time_ns() + 10**9
    monkeypatch.setattr(time, "time_ns", lambda: now)  # the tree was written a while ago
    plan, _ = plan_cache.load_or_compile(store, TREE_REQUEST)
    plans.publish(store, plan)
    return store


def test_a_tree_that_was_not_touched_is_not_read(tree: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "tree_checksum", lambda *_: pytest.fail("it was read"))
    assert plan_cache.find(tree, TREE_REQUEST)


def test_one_that_was_touched_is_read(tree: Store) -> None:
    os.utime("tree/a.c", ns=(1, 1))
    assert plan_cache.find(tree, TREE_REQUEST)


def test_one_that_changed_is_compiled_again(tree: Store) -> None:
    Path("tree/a.c").write_text("two")
    assert plan_cache.find(tree, TREE_REQUEST) is None
