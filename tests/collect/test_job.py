import json
import os
import re
import subprocess
import sys

import duckdb
import pytest

from stepgrid import pipeline
from stepgrid.collect.job import collect
from stepgrid.collect.query import open_tables
from stepgrid.host.files import write_json
from stepgrid.model.result_schema import SCHEMA
from stepgrid.plugins import registry
from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.registry import DRIVERS
from stepgrid.store.active_run import DISK_HINT, is_system_refusal
from tests.needs import needs
from tests.run.conftest import ROOT
from tests.run.test_disk_budget import INSIDE_FULL
from tests.summarize.synthetic import ASSERTIONS, Experiment

BUILD = "rocksdb-7.8.3"


@pytest.fixture
def experiment(tmp_path):
    """One load: lru measured, hyper unsupported at 1 thread and missing at 2."""
    found = Experiment(tmp_path, loads=1)
    found.add_build(BUILD, warnings=[ASSERTIONS])
    found.add_load(BUILD, 0)
    for threads in ("1", "2"):
        found.add(BUILD, "lru", threads, 0, {"readww": 1000.0 * int(threads), "overwrite": 500.0})
    found.add_unsupported(BUILD, "hyper", "1", 0, "no option cache_type")
    return found


def query(experiment, sql):
    folder = experiment.store.summary("p-synthetic") / "tables"
    names = ("steps", "series", "samples", "latencies", "histograms", "levels", "history", "environment", "metrics")
    with duckdb.connect() as connection:
        for name in names:
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{folder}/{name}.parquet')")
        return connection.execute(sql).fetchall()


def test_the_tables_of_an_experiment(experiment):
    """A row for each cell, step and repeat; what is missing is null; each metric has a unit, each file the schema."""
    collect(experiment.store, experiment.plan)
    rows = query(
        experiment,
        "SELECT axis_build, axis_cache, axis_threads, step, status, qps, same_as FROM steps WHERE step <> 'overwrite'",
    )
    load = (BUILD, None, None, "fillseq", "done", 300000.0)
    assert rows == [
        (*load, None),
        (BUILD, "lru", "1", "readww", "done", 1000.0, None),
        (*load, "c-7.8.3-lru-1"),
        (BUILD, "lru", "2", "readww", "done", 2000.0, None),
        (*load, "c-7.8.3-lru-1"),
        (BUILD, "hyper", "1", "readww", "unsupported", None, None),
        (*load, "c-7.8.3-lru-1"),
        (BUILD, "hyper", "2", "readww", "missing", None, None),
    ]
    assert query(experiment, "SELECT count(device_reads_per_s), count(*) FROM steps") == [(0, 12)]
    assert query(experiment, "SELECT count(*) FROM steps WHERE qps = 0 OR p99_us = 0") == [(0,)]
    assert query(experiment, "SELECT DISTINCT reason FROM steps WHERE status <> 'done' ORDER BY 1") == [
        ("no option cache_type",),
        ("not run yet",),
    ]
    columns = {row[0] for row in query(experiment, "DESCRIBE steps")}
    assert set(METRICS) <= columns
    assert query(experiment, "SELECT unit, better, schema FROM metrics WHERE name = 'qps'") == [
        ("operations/s", "higher", SCHEMA)
    ]
    assert query(experiment, "SELECT value FROM environment WHERE scope = 'build' AND name = 'warnings'") == [
        (f'["{ASSERTIONS}"]',)
    ]
    assert query(experiment, "SELECT DISTINCT value FROM environment WHERE scope = 'host' AND name = 'kernel'") == [
        ("6.1.0",)
    ]
    assert query(experiment, "SELECT count(*) FROM environment WHERE scope = 'command' AND name = 'argv'") == [(5,)]
    for path in (experiment.store.summary("p-synthetic") / "tables").glob("*.parquet"):
        with duckdb.connect() as connection:
            found = connection.execute("SELECT key::BLOB, value FROM parquet_kv_metadata(?)", [str(path)]).fetchall()
        assert found == [(b"stepgrid_schema", str(SCHEMA).encode())]


def test_what_steps_leave_beside_their_figures(experiment):
    """A level is of a family and a priority of no level; samples hold rates of each second; warnings stay of a step."""
    stdout = experiment.store.result("s-7.8.3-lru-1-0") / "steps/0-readww/stdout"
    rows = (("Level", " Sum"), ("Priority", "High"))
    tables = "".join(
        f"** Compaction Stats [default] **\n{group} Files Size Comp(sec)\n---\n{name} 1/0 1.00 KB 7.00\n\n"
        for group, name in rows
    )
    stdout.write_text(stdout.read_text() + tables)
    lines = [f'{{"monotonic": {at}, "switches": {1000 * at}}}\n' for at in range(3)]
    stdout.with_name("samples.jsonl").write_text("".join(lines))
    experiment.seal(stdout.parents[2])
    for path in experiment.store.root.glob("results/*/*/result.json"):
        record = json.loads(path.read_text())
        for step in record["steps"]:
            step["warnings"] = ["`a`: it is 1"] if step["name"] == "readww" else []
        path.write_text(json.dumps(record))
    collect(experiment.store, experiment.plan)
    sql = "SELECT family, level, priority, bytes, seconds FROM levels WHERE stage = 's-7.8.3-lru-1-0' AND position = 0"
    assert query(experiment, sql) == [("default", "Sum", None, 1024.0, 7.0), ("default", None, "High", 1024.0, 7.0)]
    rates = [("readww", float(second), 1000.0) for second in (1, 2)]
    assert query(experiment, "SELECT step, second, context_switches_per_s FROM samples") == rates
    found = query(experiment, "SELECT DISTINCT step FROM steps WHERE list_contains(warnings, '`a`: it is 1')")
    assert found == [("readww",)]


def test_a_collect_reads_what_is_new(experiment):
    collect(experiment.store, experiment.plan)
    experiment.add(BUILD, "hyper", "2", 0, {"readww": 700.0, "overwrite": 600.0})
    collect(experiment.store, experiment.plan)
    with open_tables(experiment.store.tables("p-synthetic")) as connection:
        rates = connection.execute("SELECT qps FROM steps WHERE step = 'readww' AND qps IS NOT NULL ORDER BY qps")
        assert rates.fetchall() == [(700.0,), (1000.0,), (2000.0,)]
        assert connection.execute("SELECT count(DISTINCT stage) FROM series").fetchone() == (4,)
        facts = "SELECT count(DISTINCT subject) FROM environment WHERE scope = 'host' AND name = 'kernel'"
        assert connection.execute(facts).fetchone() == (4,)


def test_the_command_says_what_is_missing(experiment, monkeypatch, capsys):
    monkeypatch.chdir(experiment.root)
    assert pipeline.collect("p-synthetic") == 1
    assert capsys.readouterr().err == (
        "collect: 1 of 5 stages have no result; the tables hold what there is.\n"
        "First: s-7.8.3-hyper-2-0: readww, overwrite: not run yet\n"
        "Run again to measure the rest, or give --partial to summarize without it.\n"
    )
    assert pipeline.collect("p-synthetic", is_partial=True) == 0
    assert pipeline.collect("p-other") == 1
    assert capsys.readouterr().err == "collect: there is no plan p-other under outputs/plans; start a run first\n"


def test_a_kind_that_is_not_installed_is_a_sentence(experiment, monkeypatch, capsys):
    monkeypatch.chdir(experiment.root)
    monkeypatch.delitem(DRIVERS.points, "db_bench")
    for known in (registry.driver, registry.runner):
        known.cache_clear()
    assert pipeline.collect("p-synthetic") == 1
    said = "collect: kind `db_bench` is not installed; `pip install PACKAGE` adds one (docs/guides/plugins.md)\n"
    assert capsys.readouterr().err == said


def test_loads_and_runs_are_counted_from_one(tmp_path):
    """As titles, logs and the report count them; ids have the index from 0 in them."""
    found = Experiment(tmp_path, loads=2, runs=2, caches=("lru",), threads=("1",))
    found.add_build(BUILD)
    for load in range(2):
        found.add_load(BUILD, load)
        for run in range(2):
            for _ in range(2):
                found.add(BUILD, "lru", "1", load, {"readww": 1000.0, "overwrite": 500.0}, run)
    collect(found.store, found.plan)
    wanted = [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert query(found, "SELECT load, run FROM steps WHERE step = 'readww' ORDER BY 1, 2") == wanted
    assert query(found, "SELECT load, run FROM history WHERE step = 'readww' ORDER BY 1, 2") == wanted


def collected(folder):
    """Collect one load; the command and its environment."""
    found = Experiment(folder, loads=1)
    found.add_build("rocksdb-7.8.3")
    found.add_load("rocksdb-7.8.3", 0)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    argv = [sys.executable, "-m", "stepgrid.pipeline", "collect", found.plan.digest, "--partial"]
    subprocess.run(argv, cwd=folder, env=env, check=True)
    return found, argv, env


@needs("small disks")
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("verb", ["collect", "summarize"])
def test_tables_and_report_without_room(tmp_path, verb, kept):
    _, argv, env = collected(tmp_path)
    argv[3] = verb
    inside = ["unshare", "-Urm", sys.executable, "-c", INSIDE_FULL, "kept" if kept else "none", *argv]
    done = subprocess.run(inside, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    free = r"(0 B|4 KiB) of 64 MiB free"  # a block that is too small for a table
    message = (
        "" if kept else rf"{verb}: the disk of {tmp_path.resolve()}/outputs is full: {free}; {re.escape(DISK_HINT)}\n"
    )
    assert done.returncode == (0 if kept else 1)
    assert re.fullmatch(message, done.stderr)


@pytest.mark.parametrize(("verb", "file"), [("collect", "tables/steps.parquet"), ("summarize", "index.html")])
def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path, verb, file):
    """As where the disk fails (EIO): no full disk, and no traceback."""
    found, argv, env = collected(tmp_path)
    path = found.store.root / "summary" / found.plan.digest / file
    path.unlink(missing_ok=True)
    (path / "inside").mkdir(parents=True)
    argv[3] = verb
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{verb}: the system refused: [Errno 21] Is a directory: ")
    assert len(done.stderr.splitlines()) == 1


def test_what_duckdb_could_not_write_is_a_refusal_of_the_system(tmp_path):
    with pytest.raises(duckdb.Error) as found:
        duckdb.sql(f"COPY (SELECT 1) TO '{tmp_path}/none/a.parquet'")
    assert is_system_refusal(found.value)
    assert not is_system_refusal(ValueError())


def test_what_could_not_be_written_leaves_nothing(tmp_path):
    (tmp_path / "a.json" / "inside").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        write_json(tmp_path / "a.json", {}, durable=False)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
