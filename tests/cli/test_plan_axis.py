"""stepgrid plan, once a spec has an axis more: cells are compared by the axes that they had before."""

from __future__ import annotations

from pathlib import Path

from tests.cli.samples import SPEC
from tests.cli.test_plan import Capture, built, kept, measured, told

AXIS = "bloom: {option: bloom_bits, values: [5, 6], from: loaded}"


def test_why_says_what_the_new_axis_sets(folder: Path, capsys: Capture) -> None:
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    (folder / "a.yaml").write_text(SPEC.replace("sweep: {", f"sweep: {{{AXIS}, "))
    said = told(capsys)
    for value in (5, 6):
        assert (
            f"measure (missing): 4 stages, about 2m00s\n    options.bloom_bits: not set -> {value} (a.yaml:8:25)\n"
            in said
        )
    assert "a new cell" not in said
    assert "  status   4 done, 8 missing\n" in said
