"""Where a finding stands: also of the steps that one entry of `steps` stands for."""

import pytest

from compiler.language.problem import Problem
from tests.lint.pages import problems_of

SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}}
steps:
  - {name: load, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - {name: reads, kind: db_bench, benchmarks: [overwrite], MORE}
params: {keys: 1M, duration: 10m}
"""


@pytest.mark.parametrize("more", ["times: 2", "for: {threads: [1, 2]}", "for: {threads: [1]}, times: 1, warmup: 5s"])
def test_what_for_times_and_warmup_make_stands_where_they_do(more, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(SPEC.replace("MORE", more), encoding="utf-8")
    (found,) = (problem for problem in problems_of("spec.yaml") if _is_of_reads(problem))
    assert (found.where.line, found.where.column) == (5, 12)


def _is_of_reads(problem: Problem) -> bool:
    return problem.code == "load-not-drained"
