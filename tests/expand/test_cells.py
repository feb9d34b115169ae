"""Cells of a spec that is compiled with --only and --set."""

from pathlib import Path

import pytest

from stepgrid.language.problems import SpecError, format_problems
from stepgrid.model.plan import Plan
from stepgrid.plan.assembly import CompileContext, compile_spec
from tests.conftest import HOST
from tests.expand.samples import BASE, SWEEP, ids


def narrowed(tmp_path: Path, only: str | None = None, sets: tuple[str, ...] = ()) -> Plan:
    (tmp_path / "a.yaml").write_text(BASE + SWEEP)
    return compile_spec(str(tmp_path / "a.yaml"), None, HOST, context=CompileContext(only, sets))


def test_only(tmp_path: Path) -> None:
    whole, some = narrowed(tmp_path), narrowed(tmp_path, "cache == 'lru' and build == 'rocksdb-7.8.3'")
    assert len(some.cells) == 1
    assert ids(some) < ids(whole)
    with pytest.raises(SpecError) as caught:
        narrowed(tmp_path, "cach == 'lru'")
    assert str(caught.value.problems[0].where) == "--only:1:1"
    with pytest.raises(SpecError) as caught:
        narrowed(tmp_path, "cache == 'lrru'")
    said = "--only:1:1: error[empty-grid]: no cell is left\n   = `--only` holds for none of them"
    assert format_problems(caught.value.problems) == said


def test_sets_of_the_cells_that_are_left_out_are_no_fault(tmp_path: Path) -> None:
    text = """
title: t
builds:
  my: {engine: mysql, version: 8.0.31, source: {system: mysqld}}
  pg: {engine: postgres, version: 17.11, source: {system: postgres}}
options: [small, {shared_buffers: 1GB}]
define: {options: {small: {engine: mysql, options: {innodb_buffer_pool_size: 64MiB}}}}
steps: [{name: one, kind: sql, sql: [select 1]}]
"""
    (tmp_path / "b.yaml").write_text(text)
    assert len(compile_spec(str(tmp_path / "b.yaml"), None, HOST, context=CompileContext("build == 'pg'")).cells) == 1
    (tmp_path / "b.yaml").write_text(text.replace("  my:", "  other: {extends: pg, version: 17.10}\n  #"))
    with pytest.raises(SpecError) as caught:
        compile_spec(str(tmp_path / "b.yaml"), None, HOST)
    assert [problem.message for problem in caught.value.problems] == [
        "no cell takes the option set `small`: it is for mysql"
    ]


def test_set(tmp_path: Path) -> None:
    plan = narrowed(tmp_path, sets=("params.keys=2k", "repeat=2", "sweep.cache.points.lru=null"))
    assert {step.settings["keys"] for stage in plan.stages for step in stage.steps} == {2000}
    assert (len(plan.cells), len(plan.cells[0].repeats)) == (2, 2)
    for wrong, said in (("params.kes=1", "no step takes the param `kes`"), ("params", "`params` is not PATH=VALUE")):
        with pytest.raises(SpecError) as caught:
            narrowed(tmp_path, sets=(wrong,))
        assert said in format_problems(caught.value.problems)


def test_set_adds_an_option_over_the_others(tmp_path: Path) -> None:
    more = ("options=[{c: 1, b: 1}]", "options.b=2", "sweep.cache.points.lru.options.d=3")
    plan = narrowed(tmp_path, "cache == 'lru'", more)
    last = next(step.options for stage in plan.stages for step in stage.steps if step.name == "readww")
    assert {name: last[name].value for name in last} == {"a": 1, "b": 2, "c": 1, "d": 3}
