"""Files that options name: what is in them is part of the identity, and what is missing is told before a run."""

from pathlib import Path

from tests.conftest import Compile
from tests.plan.test_difference import chain

DB_BENCH = """\
title: t
builds: {b: {engine: rocksdb, version: 9.10.0, source: {system: no-db-bench}}}
steps:
  - {name: fill, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null, threads: 1, options: [%s]}
  - {checkpoint: loaded}
  - {name: get, kind: db_bench, benchmarks: [%s], duration: null, options: [%s]}
params: {keys: 1M}
"""


def stages(compile_text: Compile, text: str) -> list[str]:
    return [link.stage.id for link in chain(compile_text(text))]


def test_a_file_of_options_is_meant_from_the_yaml_that_names_it(compile_text: Compile, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "o.yaml").write_text("define: {options: {big: {options: {options_file: in.cnf}}}}\n")
    (tmp_path / "sub" / "in.cnf").write_text("1")
    text = f"include: [sub/o.yaml]\n{DB_BENCH % ('big', 'readseq', '')}"
    before = stages(compile_text, text)
    (tmp_path / "in.cnf").write_text("2")
    assert stages(compile_text, text) == before
    (tmp_path / "sub" / "in.cnf").write_text("2")
    assert {*stages(compile_text, text)}.isdisjoint(before)


def test_a_trace_that_a_step_of_the_spec_writes_is_no_input(compile_text: Compile, tmp_path: Path) -> None:
    trace = tmp_path / "a.trace"
    option = f"{{trace_file: {trace}}}"
    before = stages(compile_text, DB_BENCH % (option, "replay", option))
    trace.write_bytes(b"1")
    assert stages(compile_text, DB_BENCH % (option, "replay", option)) == before
