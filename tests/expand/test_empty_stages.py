"""Checkpoints that no step stands between."""

from __future__ import annotations

from tests.expand.samples import BASE, Compile, ids


def test_a_stage_whose_steps_all_drop_out_is_none(compile_text: Compile) -> None:
    between = "  - {name: mid, kind: db_bench, benchmarks: [flush], when: \"version < '1'\"}\n  - checkpoint: second\n"
    last = "  - {name: readww"
    plan = compile_text(BASE.replace(last, between + last))
    assert [len(cell.repeats[0].stages) for cell in plan.cells] == [2, 2]
    assert ids(plan) == ids(compile_text(BASE))
