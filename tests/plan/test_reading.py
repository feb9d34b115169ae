"""What is read of a step's output is no part of its identity; what two cells read in two ways is measured twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from stepgrid.model.plan import Plan
from stepgrid.plan import plan_file
from stepgrid.plan.assembly import Context, compile_spec
from stepgrid.plan.stage_tree import id_faults
from tests.conftest import HOST

SPEC = """\
title: t
builds: {mine: {engine: program, version: "1.0", source: {system: sh}}}
steps:
  - {name: put, kind: command, argv: ["{program:sh}", -c, "echo put"]}
  - {checkpoint: loaded}
  - {name: get, kind: command, argv: ["{program:sh}", -c, "echo 7 in %s"], metrics: {rate: %s}}
%s"""
PLAIN = "{pattern: '(\\d+) in'}"


def ids(plan: Plan) -> list[str]:
    return sorted(stage.id for stage in plan.stages)


@pytest.mark.parametrize(
    "metric",
    [
        "{pattern: 'took (\\d+)'}",
        "{pattern: '(\\d+) in', unit: s}",
        "{pattern: '(\\d+) in', better: lower}",
        "{pattern: '(\\d+) in', times: 0.001}",
        "{pattern: '(\\d+) in', required: true}",
        "{pattern: '(\\d+) in'}, more: {pattern: '(\\d+)'}",
    ],
)
def test_metrics_are_no_part_of_the_identity(compile_text: Callable[..., Plan], metric: str) -> None:
    assert ids(compile_text(SPEC % ("s", metric, ""))) == ids(compile_text(SPEC % ("s", PLAIN, "")))


def test_series_is_none_either_and_the_command_is(compile_text: Callable[..., Plan]) -> None:
    plain = compile_text(SPEC % ("s", PLAIN, ""))
    series = f"{PLAIN}}}, series: {{file: a.csv, time: t, rate: r"
    assert ids(compile_text(SPEC % ("s", series, ""))) == ids(plain)
    assert ids(compile_text(SPEC % ("ms", PLAIN, ""))) != ids(plain)


AXIS = "params: {scale: 1}\nsweep: {scale: {param: scale, values: [1, 2], from: loaded}}\n"


def test_output_that_two_cells_read_in_two_ways_is_measured_twice(compile_text: Callable[..., Plan]) -> None:
    plan = compile_text(SPEC % ("s", "{pattern: '(\\d+) in', times: '{{ params.scale }}'}", AXIS))
    assert len([stage for stage in plan.stages if stage.parent]) == 2
    assert list(id_faults(plan)) == []


class Earlier:
    """A store with results under the ids of before."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def __call__(self, today: str, earlier: Sequence[str], contents: Mapping[str, str]) -> str:
        self.ids += earlier[:1]
        return earlier[0] if earlier else today


def test_results_under_an_id_of_before_stay(compile_text: Callable[..., Plan]) -> None:
    today = compile_text(SPEC % ("s", PLAIN, ""))
    store = Earlier()
    plan = compile_spec("a.yaml", None, HOST, context=Context(choose_id=store))
    assert {stage.id for stage in plan.stages if stage.todays} == {*store.ids}
    assert all(stage.todays for stage in plan.stages if stage.parent)
    assert list(id_faults(plan)) == []
    assert "".join("".join(lines) for _, lines in plan_file.texts(today)).count("todays") == 0
