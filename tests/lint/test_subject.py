"""Where a finding stands: also of the steps that one entry of `steps` stands for."""

import pytest

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


def _is_of_reads(problem):
    return problem.code == "load-not-drained"


LIBRARY = """\
define:
  workloads:
    other: [{name: reads, kind: db_bench, benchmarks: [overwrite], threads: 64}]
    mine: [{name: load, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null},
           {name: reads, kind: db_bench, benchmarks: [overwrite]}]
"""
OWN = "{name: reads, kind: db_bench, benchmarks: [overwrite]}"


@pytest.mark.parametrize(
    ("step", "workload", "params", "place"),
    [
        (OWN, "", "threads: 64", "spec.yaml:8"),
        (OWN.replace("}", ", threads: 64}"), "", "", "spec.yaml:7"),
        ("{use: reads, threads: 64}", "mine", "", "spec.yaml:7"),
        ("{use: reads}", "mine", "threads: 64", "spec.yaml:8"),
        ("{use: reads}", "other", "", "library.yaml:3"),
        ("{use: reads, as: load-not}", "other", "", "library.yaml:3"),
    ],
)
def test_only_the_workload_of_the_spec_has_its_steps(step, workload, params, place, tmp_path, monkeypatch):
    """A step of the spec's own, or one of another workload, may have the name of a step in an include."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "library.yaml").write_text(LIBRARY, encoding="utf-8")
    more = f"workload: {workload}" if workload else "seed: 1"
    text = SPEC.replace("title: t\n", f"title: t\ninclude: [library.yaml]\n{more}\n")
    text = text.replace(OWN.replace("}", ", MORE}"), step).replace("10m}", f"10m, {params}}}")
    (tmp_path / "spec.yaml").write_text(text, encoding="utf-8")
    found = [problem.where for problem in problems_of("spec.yaml") if problem.code == "clients-over-cores"]
    assert [f"{where.file}:{where.line}" for where in found] == [place]
