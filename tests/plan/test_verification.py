"""The ids of a plan from elsewhere are made again of what it declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stepgrid.model.plan import Option, Plan, PlannedStage
from stepgrid.plan.assembly import compile_spec, scales
from stepgrid.plan.stage_tree import id_faults
from tests.cli.samples import SPEC
from tests.conftest import HOST

SPECS = Path(__file__).resolve().parents[2] / "specs"
COMPILED = [*SPECS.glob("*.yaml"), *SPECS.glob("posts/*.yaml")]
Compile = Callable[..., Plan]
OPTIONS = "start: cold\nseed: 7\noptions: [{a: 1, b: {value: x, when_unsupported: drop}}]\n"
OWN = "share: false\nrepeat: {loads: 2, runs: 2}\nlaunch: {cpus: '0-1'}\n"


@pytest.mark.parametrize("path", sorted(COMPILED), ids=lambda path: path.stem)
def test_the_ids_of_every_shipped_spec(path: Path) -> None:
    plan = compile_spec(str(path), "smoke" if "smoke" in scales(str(path)) else None, HOST)
    assert list(id_faults(plan)) == []


@pytest.mark.parametrize(
    "more", ["", OWN, "start: cold\nseed: 7\noptions: [{a: 1, b: {value: x, when_unsupported: drop}}]\n"]
)
def test_cells_of_their_own_and_repeats(more: str, compile_text: Compile) -> None:
    assert list(id_faults(compile_text(SPEC + more))) == []


def test_files_that_a_command_reads(compile_text: Compile, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("text")
    text = (
        "title: t\nbuilds: {a: {engine: program, version: 1, source: {system: sh}}}\n"
        "steps: [{name: s, kind: command, argv: [cat, in.txt]}]\n"
    )
    assert list(id_faults(compile_text(text))) == []


def _steps(stage: PlannedStage, **other: object) -> PlannedStage:
    return replace(stage, steps=(replace(stage.steps[0], **other), *stage.steps[1:]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        lambda stage: _steps(stage, seed=stage.steps[0].seed + 1),
        lambda stage: _steps(stage, settings={**stage.steps[0].settings, "keys": 1}),
        lambda stage: _steps(stage, options={"block_size": Option(1)}),
        lambda stage: _steps(stage, revision=99),
        lambda stage: _steps(stage, setup={"launch": {"cpus": "1"}}),
        lambda stage: replace(stage, load=1),
        lambda stage: replace(stage, hardware="h-0"),
        lambda stage: replace(stage, build="b-0"),
    ],
)
def test_a_stage_that_is_another_one(change: Callable[[PlannedStage], PlannedStage], compile_text: Compile) -> None:
    plan = compile_text(SPEC)
    root = next(stage for stage in plan.stages if stage.parent is None)
    forged = replace(plan, stages=tuple(change(each) if each is root else each for each in plan.stages))
    (said,) = id_faults(forged)
    assert said.startswith(f"the stage {root.id} declares what has the id s-")
    assert not said.endswith(root.id)


def test_a_build_that_is_another_one(compile_text: Compile) -> None:
    plan = compile_text(SPEC)
    forged = replace(plan, builds=(replace(plan.builds[0], source={"system": "db_bench"}), *plan.builds[1:]))
    (said,) = id_faults(forged)
    assert said.startswith(f"the build {plan.builds[0].id} declares what has the id b-")


def test_a_file_that_is_another_one(compile_text: Compile) -> None:
    plan = compile_text(SPEC)
    root = plan.stages[0]
    forged = replace(plan, stages=(_steps(root, files={"a.lua": "x"}), *plan.stages[1:]))
    assert list(id_faults(forged)) == [f"the stage {root.id} brings a file `a.lua` that its checksum is not of"]
