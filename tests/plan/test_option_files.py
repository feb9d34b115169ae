"""Files that options name: what is in them is part of the identity, and what is missing is told before a run."""

from pathlib import Path

import pytest

from stepgrid.plan.difference import differences
from stepgrid.plan.stage_tree import id_faults
from tests.conftest import Compile, Complaints
from tests.plan.test_difference import chain, named

DB_BENCH = """\
title: t
builds: {b: {engine: rocksdb, version: 9.10.0, source: {system: no-db-bench}}}
steps:
  - {name: fill, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null, threads: 1, options: [%s]}
  - {checkpoint: loaded}
  - {name: get, kind: db_bench, benchmarks: [%s], duration: null, options: [%s]}
params: {keys: 1M}
"""
SERVER = """\
title: t
builds: {b: {engine: %s, version: %s, source: {system: no-server}}}
steps:
  - {name: get, kind: sql, sql: ["select 1"]}
options: [%s]
"""


def stages(compile_text: Compile, text: str) -> list[str]:
    return [link.stage.id for link in chain(compile_text(text))]


@pytest.mark.parametrize(
    "text",
    [
        DB_BENCH % ("{options_file: in.cnf}", "readseq", ""),
        DB_BENCH % ("{env_uri: 'mem=in.cnf'}", "readseq", ""),
        SERVER % ("mysql", "8.0.31", "{ssl_ca: in.cnf}"),
        SERVER % ("mysql", "8.0.31", "{loose_keyring_file_data: in.cnf}"),
        SERVER % ("mariadb", "11.8.3", "{plugin_load_add: ./in.cnf}"),
        SERVER % ("postgres", "17.2", "{ssl_ca_file: '@/in.cnf'}"),
    ],
)
def test_what_is_in_a_file_that_an_option_names_counts(compile_text: Compile, tmp_path: Path, text: str) -> None:
    text = text.replace("@", str(tmp_path))
    ids, plans = [], []
    for content in ("1 MiB", "64 MiB", "1 MiB"):
        (tmp_path / "in.cnf").write_text(content)
        plans.append(compile_text(text))
        ids.append([link.stage.id for link in chain(plans[-1])])
        assert list(id_faults(plans[-1])) == []
    assert {*ids[0]}.isdisjoint(ids[1])
    assert ids[0] == ids[2]
    assert [field.endswith("in.cnf") for field, *_ in named(differences(chain(plans[0]), chain(plans[1])))] == [True]


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("mysql, version: 8.0.31", "{slow_query_log_file: /@/in.cnf, log_bin: in.cnf}"),
        ("mysql, version: 8.0.31", "{innodb_flush_method: O_DIRECT, sort_buffer_size: 1}"),
        ("postgres, version: 17.2", "{log_directory: /@/in.cnf, wal_compression: lz4}"),
    ],
)
def test_what_an_engine_writes_and_plain_words_leave_the_id_alone(
    compile_text: Compile, tmp_path: Path, engine: str, options: str
) -> None:
    text = SERVER.replace("%s, version: %s", engine) % options.replace("/@", str(tmp_path))
    before = stages(compile_text, text)
    (tmp_path / "in.cnf").write_text("1")
    assert stages(compile_text, text) == before


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


def test_a_trace_and_an_options_file_must_be_there(
    complaints: Complaints, compile_text: Compile, tmp_path: Path
) -> None:
    text = DB_BENCH % ("", "replay", "{trace_file: my.trace}")
    message = "a.yaml:6:82: error[file-not-found]: option `trace_file`: there is no file `my.trace`"
    assert complaints(text).splitlines()[0] == message
    (tmp_path / "my.trace").write_bytes(b"1")
    assert len(stages(compile_text, text)) == 2
    text = DB_BENCH % ("{options_file: no.ini}", "readseq", "")
    message = "a.yaml:4:109: error[file-not-found]: option `options_file`: there is no file `no.ini`"
    assert complaints(text).splitlines()[0] == message


def test_a_trace_that_a_step_of_the_spec_writes_is_no_input(compile_text: Compile, tmp_path: Path) -> None:
    trace = tmp_path / "a.trace"
    option = f"{{trace_file: {trace}}}"
    before = stages(compile_text, DB_BENCH % (option, "replay", option))
    trace.write_bytes(b"1")
    assert stages(compile_text, DB_BENCH % (option, "replay", option)) == before
