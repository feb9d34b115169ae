from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.plan import PlannedBuild, PlannedStage, PlannedStep
from stepgrid.plugins.registry import DRIVERS, unrunnable_kinds
from stepgrid.store.store import Store
from stepgrid.workflow import run_request
from stepgrid.workflow.support_check import of_builds, refusals

MADE = PlannedBuild("b-1", "rocksdb", "rocksdb", "9.10.0", {"system": "db_bench"}, "a.yaml:2:3")


@pytest.fixture(autouse=True)
def declared_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds, engines and sources that this version runs, whatever a later one can."""
    from stepgrid.build import recipe
    from stepgrid.plugins import registry

    monkeypatch.setattr(
        registry, "unrunnable_kinds", lambda given: tuple(k for k in dict.fromkeys(given) if k == "sysbench")
    )
    monkeypatch.setattr(registry, "is_runnable", lambda name: None if name == "mysql" else object())
    monkeypatch.setattr(
        registry, "unrunnable_engines", lambda given: tuple(n for n in dict.fromkeys(given) if n == "mysql")
    )
    monkeypatch.setattr(recipe, "ROUTES", ("system", "debian"))


def _build(name: str, engine: str, source: dict[str, Any], where: str) -> PlannedBuild:
    return PlannedBuild(f"b-{name}", name, engine, "1.0", source, where)


def _stage(*kinds_of_steps: str, number: int = 1) -> PlannedStage:
    steps = tuple(PlannedStep(f"{kind}.1", kind, 1, {}, {}, 1) for kind in kinds_of_steps)
    return PlannedStage(f"s-{number}", "t", "b-1", None, (), 0, 0, "h", steps, 1.0, 0)


def test_what_runs_is_not_refused() -> None:
    assert refusals("a.yaml", [MADE], [_stage("db_bench", "command")]) == []


def test_each_kind_of_step_is_named_once() -> None:
    stages = [_stage("db_bench", "sysbench"), _stage("sysbench", number=2)]
    assert refusals("a.yaml", [MADE], stages) == [
        "a.yaml: this version checks and plans steps of kind sysbench; it cannot run them yet"
    ]


def test_engines_and_sources_are_named_with_the_first_build_of_them() -> None:
    git = {"git": "https://a.example/r.git", "ref": "v1"}
    builds = [
        MADE,
        _build("my1", "mysql", git, "a.yaml:3:3"),
        _build("my2", "mysql", git, "a.yaml:4:3"),
        _build("r1", "rocksdb", git, "a.yaml:5:3"),
        _build("r2", "rocksdb", git, "a.yaml:6:3"),
    ]
    assert refusals("a.yaml", builds, []) == [
        "a.yaml:3:3: this version checks and plans the engine mysql; it cannot run it yet",
        "a.yaml:5:3: this version checks and plans builds from git; it cannot make them yet",
    ]


def test_binaries_that_are_made_already_honour_no_recipe() -> None:
    patched = replace(MADE, recipe={"patches": ["a.patch"], "flags": {"march": "native"}})
    assert refusals("a.yaml", [MADE, patched], []) == [
        "a.yaml:2:3: the binaries of `source: system` are made already: no `patches` and `flags` for them; "
        "leave them out, or build from source"
    ]


def test_an_extension_may_come_in_a_package() -> None:
    asked = {"extensions": {"pgvector": "0.8.0"}}
    package = replace(MADE, engine="postgres", source={"debian": "postgresql-17", "suite": "trixie"}, recipe=asked)
    own = replace(package, source={"system": "postgres"})
    assert of_builds([package]) == []
    assert of_builds([own]) == [
        "a.yaml:2:3: the binaries of `source: system` are made already: no `extensions` for them; "
        "leave them out, or build from source"
    ]


def test_which_programs_of_a_package_are_run_is_no_recipe() -> None:
    fio = PlannedBuild("b-1", "fio", "program", "", {"debian": "fio", "suite": "x"}, "a.yaml:2:3")
    chosen = replace(fio, recipe={"flags": {"programs": "fio"}})
    made = replace(fio, recipe={"flags": {"programs": "fio", "command": "make"}})
    assert refusals("a.yaml", [chosen], []) == []
    assert refusals("a.yaml", [made], []) == [
        "a.yaml:2:3: the binaries of `source: debian` are made already: no `flags` for them; "
        "leave them out, or build from source"
    ]


@pytest.mark.parametrize("key", ["sql", "counters"])
def test_probes_that_need_a_server(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    probes = {"before": [{"name": "rows", key: "select 1"}], "after": [{"name": "du", "command": ["du"]}]}
    stage = _stage("db_bench")
    stage = replace(stage, steps=(replace(stage.steps[0], setup=probes),))
    said = f"a.yaml: probe `rows` asks for `{key}`, which needs a server; rocksdb is none"
    assert refusals("a.yaml", [MADE], [stage, stage]) == [said]


def test_nothing_starts_of_a_plan_that_cannot_be_run(tmp_path: Path) -> None:
    from stepgrid.model.plan import Plan, Report

    plan = Plan("p", "t", "a.yaml", None, (), (), (MADE,), (_stage("sysbench"),), {"id": "h"}, Report())
    (tmp_path / "outputs").mkdir()
    work = run_request.work(plan, Store(tmp_path / "outputs"))
    with pytest.raises(run_request.Fault) as caught:
        run_request._refuse_what_cannot_run(work)
    assert str(caught.value) == "a.yaml: this version checks and plans steps of kind sysbench; it cannot run them yet"


def test_unrunnable_knows_every_kind() -> None:
    assert set(unrunnable_kinds(DRIVERS.names())) <= set(DRIVERS.names())
