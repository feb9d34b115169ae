"""Spec -> cells -> a spec of one cell -> the same cell: a value is the same however it was come by."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from stepgrid.model.plan import Plan
from stepgrid.plan.assembly import compile_spec
from tests.conftest import HOST
from tests.plan import one_cell, test_union
from tests.plan.test_golden import ROOT, WHOLE

Compile = Callable[..., Plan]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(test_union.spec())
def test_a_cell_written_out_is_the_same_cell(compile_text: Compile, drawn: dict[str, Any]) -> None:
    whole = test_union.outcome(compile_text, test_union.text(drawn, test_union.VERSIONS, drawn["sweep"], None))
    if isinstance(whole, Plan):
        for cell in whole.cells[:6]:
            came_back(compile_text, whole, cell)


def test_every_cell_of_what_an_id_is_made_of(compile_text: Compile) -> None:
    plan = compile_text(WHOLE.replace("hardware: {cores: 4, memory: 16GiB}\n", ""))
    assert len(plan.cells) > 10
    for cell in plan.cells:
        came_back(compile_text, plan, cell, seed=7)


@pytest.mark.parametrize("post", sorted((ROOT / "specs" / "posts").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_cell_of_each_published_experiment(
    compile_text: Compile, post: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    plan = compile_spec(str(post.relative_to(ROOT)), "smoke", HOST)
    for cell in (plan.cells[0], plan.cells[-1]):
        came_back(compile_text, plan, cell)


def came_back(compile_text: Compile, plan: Plan, cell: Any, seed: int = 1) -> None:
    again = compile_text(one_cell.text(plan, cell, seed))
    assert one_cell.stages(again, again.cells[0]) == one_cell.stages(plan, cell)
    assert len(again.cells) == 1
