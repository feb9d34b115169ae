"""stepgrid query: SQL over the tables by name, read-only, and what is wrong with it in one sentence."""

import contextlib
import json
import shutil
from pathlib import Path

import duckdb
import pytest

from stepgrid.cli import main
from stepgrid.collect.job import collect
from stepgrid.collect.query import SCHEMA
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    found = Experiment(tmp_path_factory.mktemp("query"), loads=1)
    found.add_build(BUILD)
    found.add_load(BUILD, 0)
    found.add(BUILD, "lru", "1", 0, {"readww": 1000.0, "overwrite": 500.0})
    collect(found.store, found.plan)
    return Path(found.root)


@pytest.fixture(autouse=True)
def here(collected, monkeypatch):
    monkeypatch.chdir(collected)


READWW = "SELECT step, axis_cache AS cache, qps, p99_9_us FROM steps WHERE step = 'readww' AND qps IS NOT NULL"


def test_json_has_null_for_what_is_missing(capsys):
    sql = "SELECT step, warnings, started, device_reads_per_s FROM steps WHERE step = 'readww' AND status = 'done'"
    assert main(["query", sql, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"step": "readww", "warnings": [], "started": "2026-11-20T10:00:00", "device_reads_per_s": None}
    ]


@pytest.mark.parametrize(
    ("version", "said"),
    [("1", "{}, and collecting makes them again"), ("999", "{}"), ("x", "{}, and collecting makes them again")],
)
def test_tables_of_another_version(version, said, tmp_path, capsys):
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
