"""`equal`: the same cache and durability for each engine, by its own options."""

from pathlib import Path

import pytest

from stepgrid import cli
from stepgrid.plugins.durability import COMMIT, promised_classes
from stepgrid.plugins.registry import ENGINES, driver, engine
from tests.expand.samples import ids
from tests.lint.pages import problems_of

SPEC = """\
title: t
builds:
  rocksdb: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}
  maria: {engine: mariadb, version: 11.8.3, source: {system: mariadbd}}
  myrocks: {engine: mariadb, version: 11.8.3, source: {system: mariadbd}, params: {storage_engine: rocksdb}}
  postgres: {engine: postgres, version: 17.2, source: {system: postgres}}
define: {builds: {sysbench: {engine: sysbench, version: 1.0.20, source: {system: sysbench}}}}
steps:
  - {name: load, kind: db_bench, benchmarks: [fillseq], fresh: true, measured: false, when: "engine == 'rocksdb'",
     options: {sync: false, disable_wal: true}}
  - {name: w, kind: db_bench, benchmarks: [overwrite], mutates: true, when: "engine == 'rocksdb'"}
  - {name: w, kind: sysbench, lua: insert, mutates: true, when: "engine != 'rocksdb'"}
params: {keys: 1k, rows: 1k, duration: 1m, threads: 1}
repeat: 2
"""
SWEPT = """\
sweep: {memory: [1GiB, 1536MiB]}
equal: {memory: "{{ params.memory }}", durability: sync}
scales: {smoke: {equal: {memory: 64MiB}, sweep: null}}
"""
WRITTEN_OUT = """\
options:
  - {engine: rocksdb, options: {cache_size: "{{ params.memory }}", sync: true, disable_wal: false}}
  - {engine: mariadb, when: "build == 'maria'", options: {sync_binlog: 1, innodb_flush_log_at_trx_commit: 1,
     innodb_buffer_pool_size: "{{ params.memory }}"}}
  - {engine: mariadb, when: "build == 'myrocks'", options: {sync_binlog: 1, rocksdb_flush_log_at_trx_commit: 1,
     rocksdb_block_cache_size: "{{ params.memory }}"}}
  - {engine: postgres, options: {fsync: "on", synchronous_commit: "on",
     shared_buffers: "{{ '1GB' if memory == '1GiB' else '1536MB' }}"}}
sweep: {memory: [1GiB, 1536MiB]}
"""


def test_results_are_those_of_the_options_written_out(compile_text, capsys):
    plan = compile_text(SPEC + SWEPT)
    assert ids(plan) == ids(compile_text(SPEC + WRITTEN_OUT))
    steps = [step for stage in compile_text(SPEC + SWEPT, "smoke").stages for step in stage.steps]
    assert {step.options["shared_buffers"].value for step in steps if "fsync" in step.options} == {"64MB"}
    assert cli.main(["explain", "a.yaml", "build=rocksdb,memory=1GiB"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [" ".join(line.split()) for line in lines if "cache_size" in line or " sync " in line] == [
        "cache_size 1 GiB a.yaml:16:9 by `equal`", "sync false a.yaml:10:16",
        "cache_size 1 GiB a.yaml:16:9 by `equal`", "sync true a.yaml:16:40 by `equal`",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("memory: 4GiB}\noptions: [{engine: postgres, options: {shared_buffers: 4096MB}}]", ""),
        (
            "memory: 4GiB}\nsweep: {x: {option: innodb_buffer_pool_size, values: [4096M, 2G]}}",
            "16:21: error[equal-form]: `equal` wants `innodb_buffer_pool_size` 4 GiB; it is 2G here",
        ),
        (
            "memory: 4GiB}\noptions: [{engine: mariadb, options: {innodb-buffer-pool-size: 4G}}]",
            "16:39: error[equal-form]: `innodb-buffer-pool-size` is `innodb_buffer_pool_size`, which `equal` sets",
        ),
        (
            "durability: sync}\noptions: [{engine: rocksdb, options: {sync: unset}}]",
            "16:39: error[equal-form]: `equal` wants `sync` true; it is unset here",
        ),
        (
            "memory: 1MiB}\noptions: [{engine: postgres, options: {shared_buffers: 1048576}}]",  # pages of 8 kB
            "16:40: error[equal-form]: `equal` wants `shared_buffers` 1MB; it is 1048576 here",
        ),
        (
            "durability: sync}\noptions:\n  - {engine: mariadb, options: {innodb_flush_method: nosync, "
            "rocksdb_write_disable_wal: on}}",
            "12:12: error[equal-form]: `equal` wants durability sync; step `w` writes with os\n"
            "12:12: error[equal-form]: `equal` wants durability sync; step `w` writes with none",
        ),
        ("durability: os}", "15:21: error[not-a-choice]: `equal`: durability of postgres is none or sync, not `os`"),
        ("memory: 1000}", "15:17: error[wrong-unit]: `equal`: memory of postgres is a whole number of kB, not `1000`"),
    ],
)
def test_what_cannot_be_equal(complaints, compile_text, text, expected):
    whole = f"{SPEC}equal: {{{text}\n"
    if expected:
        lines = [line for line in complaints(whole).splitlines() if line.startswith("a.yaml:")]
        assert lines == [f"a.yaml:{line}" for line in expected.splitlines()]
    else:
        assert compile_text(whole)


def test_an_engine_without_options_a_second_process_and_a_command_that_gets_none(complaints):
    said = complaints("""\
title: t
builds:
  own: {engine: program, source: {system: own}}
  rocksdb: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}
equal: {memory: 1GiB, durability: sync}
steps:
  - {name: w, kind: command, argv: [a], when: "engine == 'program'"}
  - name: w
    when: "engine == 'rocksdb'"
    kind: db_bench
    benchmarks: [overwrite]
    beside: [{name: r, kind: db_bench, benchmarks: [readrandom]}, {name: copy, kind: command, argv: [cp]}]
  - {name: own, kind: command, argv: [a, "{{ options.sync }}"], durability: none, mutates: true,
     when: "engine == 'rocksdb'"}
params: {keys: 1k, duration: 1m}
""")
    lacking = "the engine program, of build `own`, declares no option for it"
    assert [line for line in said.splitlines() if line.startswith("a.yaml:")] == [
        f"a.yaml:5:9: error[equal-form]: `memory`: {lacking}",
        "a.yaml:5:9: error[equal-form]: `w/r` is a process of its own, with a second `cache_size`",
        f"a.yaml:5:23: error[equal-form]: `durability`: {lacking}",
        "a.yaml:13:12: error[equal-form]: options of `equal` do not reach step `own`: cache_size, disable_wal",
        "a.yaml:13:12: error[equal-form]: `equal` wants durability sync; step `own` writes with none",
    ]


def test_several_clients_are_equal_though_one_engine_shares_its_syncs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    several = SPEC.replace("threads: 1", "threads: 4")
    for text, codes in (("", {"mixed-durability"}), ("equal: {durability: sync}", set())):
        Path("a.yaml").write_text(f"{several}{text}\n")
        assert {problem.code for problem in problems_of("a.yaml")} & {"mixed-durability"} == codes


@pytest.mark.parametrize("name", ENGINES.names())
def test_options_of_a_class_promise_that_class(name):
    plugins = [engine(name), *map(driver, engine(name).kinds)]
    promises = next((plugin.promises for plugin in plugins if hasattr(plugin, "promises")), ())
    for row in getattr(engine(name), "equal", ()):
        for word, options in row.durability.items():
            assert promised_classes(promises, options, "99", row.storage_engine)[COMMIT] == word
