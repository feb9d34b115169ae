"""stepgrid query: SQL over the tables by name, read-only, and what is wrong with it in one sentence."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import duckdb
import pytest

from stepgrid.cli import main
from stepgrid.collect.job import collect
from stepgrid.collect.query import SCHEMA
from tests.cli.test_plan import kept, measured
from tests.summarize.synthetic import Experiment

Capture = pytest.CaptureFixture[str]
BUILD = "rocksdb-7.8.3"


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = Experiment(tmp_path_factory.mktemp("query"), loads=1)
    found.add_build(BUILD)
    found.add_load(BUILD, 0)
    found.add(BUILD, "lru", "1", 0, {"readww": 1000.0, "overwrite": 500.0})
    collect(found.store, found.plan)
    return Path(found.root)


@pytest.fixture(autouse=True)
def here(collected: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(collected)


READWW = "SELECT step, axis_cache AS cache, qps, p99_9_us FROM steps WHERE step = 'readww' AND qps IS NOT NULL"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("table", "step    cache   qps  p99_9_us\nreadww  lru    1000      9000\n"),
        ("csv", "step,cache,qps,p99_9_us\nreadww,lru,1000.0,9000.0\n"),
        ("tsv", "step\tcache\tqps\tp99_9_us\nreadww\tlru\t1000.0\t9000.0\n"),
        (
            "markdown",
            "| step | cache | qps | p99_9_us |\n| --- | --- | ---: | ---: |\n| readww | lru | 1000 | 9000 |\n",
        ),
    ],
)
def test_formats(form: str, text: str, capsys: Capture) -> None:
    assert main(["query", READWW, "--format", form]) == 0
    assert capsys.readouterr().out == text


def test_json_has_null_for_what_is_missing(capsys: Capture) -> None:
    sql = "SELECT step, warnings, started, device_reads_per_s FROM steps WHERE step = 'readww' AND status = 'done'"
    assert main(["query", sql, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"step": "readww", "warnings": [], "started": "2026-11-20T10:00:00", "device_reads_per_s": None}
    ]


def test_to_a_file(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "seconds.parquet"
    assert main(["query", "SELECT * FROM series -- all\n;", "--format", "parquet", "-o", str(path)]) == 0
    with duckdb.connect() as connection:
        assert connection.execute(f"SELECT count(*) FROM '{path}'").fetchall() == [(12,)]
    assert main(["query", READWW, "--format", "csv", "-o", str(tmp_path / "a.csv")]) == 0
    assert (tmp_path / "a.csv").read_text() == "step,cache,qps,p99_9_us\nreadww,lru,1000.0,9000.0\n"
    assert capsys.readouterr().out == ""
    assert main(["query", READWW, "--format", "parquet"]) == 2
    assert capsys.readouterr().err == "--format parquet needs -o FILE\n"


def test_without_sql_it_lists_tables_and_columns(capsys: Capture) -> None:
    assert main(["query"]) == 0
    said = capsys.readouterr().out
    assert "series: 12 rows\n" in said
    (line,) = [line for line in said.splitlines() if line.startswith("  qps ") and "wall time" in line]
    assert line.split()[:6] == ["qps", "operations/s", "Operations", "of", "all", "clients"]
    assert "columns without a value\n" in said
    assert main(["query", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("table_name,column_name,type,unit,meaning\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "step,qps\nreadww,1000.0\n"),
        ("a.TSV", "step\tqps\nreadww\t1000.0\n"),
        ("a.md", "| step | qps |\n| --- | ---: |\n| readww | 1000 |\n"),
        ("a.txt", "step     qps\nreadww  1000\n"),
    ],
)
def test_a_files_name_says_its_format(name: str, text: str, tmp_path: Path) -> None:
    sql = "SELECT step, qps FROM steps WHERE step = 'readww' AND qps IS NOT NULL"
    assert main(["query", sql, "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text() == text
    assert main(["query", sql, "-o", str(tmp_path / "a.parquet")]) == 0
    assert (tmp_path / "a.parquet").read_bytes()[:4] == b"PAR1"


def test_a_folder_that_there_is_not(tmp_path: Path, capsys: Capture) -> None:
    assert main(["query", READWW, "-o", str(tmp_path / "no" / "a.csv")]) == 2
    assert capsys.readouterr().err == f"there is no folder {tmp_path / 'no'} to write a.csv to\n"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "SELECT qpz FROM steps",
            "there is no column `qpz`: did you mean `qps`?\n  SELECT qpz FROM steps\n         ^^^\n",
        ),
        (
            "SELECT s.qpz FROM steps s",
            "there is no column `qpz`: did you mean `qps`?\n  SELECT s.qpz FROM steps s\n         ^^^^^\n",
        ),
        (
            "SELECT device_reads_per_s FROM counters",
            "there is no column `device_reads_per_s` in `counters`: `samples` and `steps` have one\n"
            "  SELECT device_reads_per_s FROM counters\n         ^^^^^^^^^^^^^^^^^^\n",
        ),
        (
            "SELECT grwn FROM counters",
            "there is no column `grwn`: did you mean `grown`?\n  SELECT grwn FROM counters\n         ^^^^\n",
        ),
        (
            "SELECT *\nFROM stepz",
            "there is no table `stepz`: did you mean `steps`?\n  FROM stepz\n       ^^^^^\n",
        ),
        ("selct 1", 'parser: syntax error at or near "selct"\n  selct 1\n  ^^^^^\n'),
        ("DROP VIEW steps", "results are only read: ask with SELECT\n"),
        ("COPY steps TO 'x.csv'", "results are only read: ask with SELECT\n"),
        ("SELECT 1; SELECT 2", "one question at a time: this is 2 statements\n"),
        ("", "there is no SQL\n"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_its_place(sql: str, said: str, capsys: Capture) -> None:
    assert main(["query", sql]) == 2
    assert capsys.readouterr() == ("", said)


def test_no_other_file_is_read(capsys: Capture) -> None:
    assert main(["query", "SELECT * FROM read_csv('/etc/hostname')"]) == 2
    assert "file system operations are disabled" in capsys.readouterr().err


def test_a_plan_without_its_spec_gets_its_tables(collected: Path, capsys: Capture) -> None:
    shutil.rmtree(collected / "outputs/summary/p-synthetic")
    assert main(["query", READWW, "--plan", "p-s", "--format", "csv"]) == 0
    assert capsys.readouterr().out == "step,cache,qps,p99_9_us\nreadww,lru,1000.0,9000.0\n"
    assert main(["query", READWW, "--plan", "q"]) == 1
    assert capsys.readouterr().err == "there is no plan q under outputs/plans\n"


def test_without_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["query", "SELECT 1"]) == 1
    assert capsys.readouterr().err == "nothing was collected yet under outputs: `stepgrid run SPEC` does it\n"


REPEATED = """
title: t
builds: {sh: {engine: program, source: {system: sh}}}
steps: [{name: q, kind: command, argv: [sh, -c, "echo 1"]}]
repeat: 2
"""


def test_a_plan_of_more_loads_has_the_results_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(REPEATED)
    ask = ["query", "--spec", "a.yaml", "SELECT load, status FROM steps ORDER BY load", "--format", "csv"]
    assert main(ask) == 1
    assert capsys.readouterr().err == "a.yaml has no results yet: `stepgrid run a.yaml` measures\n"
    measured(kept(), kept().stages)
    (tmp_path / "a.yaml").write_text(REPEATED.replace("repeat: 2", "repeat: 3"))
    assert main(ask) == 0
    assert capsys.readouterr().out == "load,status\n1,done\n2,done\n3,missing\n"


def test_the_command_that_measures_says_what_was_narrowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.yaml").write_text(REPEATED + "scales: {smoke: {repeat: 1}}\n")
    assert main(["query", "--spec", "a b.yaml", "--scale", "smoke", "--set", "title=it's", "SELECT 1"]) == 1
    assert capsys.readouterr().err == (
        "a b.yaml has no results yet: `stepgrid run 'a b.yaml' --scale smoke --set 'title=it'\"'\"'s'` measures\n"
    )


@pytest.mark.parametrize(
    ("version", "said"),
    [("1", "{}, and collecting makes them again"), ("999", "{}"), ("x", "{}, and collecting makes them again")],
)
def test_tables_of_another_version(version: str, said: str, tmp_path: Path, capsys: Capture) -> None:
    shutil.copytree("outputs", tmp_path / "outputs", symlinks=True)
    (table,) = tmp_path.glob("outputs/summary/*/tables/steps.parquet")
    old = table.rename(tmp_path / "old.parquet")
    duckdb.sql(f"COPY (FROM '{old}') TO '{table}' (FORMAT parquet, KV_METADATA {{stepgrid_schema: '{version}'}})")
    with contextlib.chdir(tmp_path):
        assert main(["query", READWW]) == 2
    newer = ", by a newer stepgrid" if version == "999" else ""
    number = version if version.isdecimal() else "0"
    expected = f"tables of version {number}{newer}; this one reads {said.format(SCHEMA)}\n"
    assert capsys.readouterr().err.endswith(expected)
