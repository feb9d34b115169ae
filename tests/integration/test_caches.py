"""What a real server's own cache holds as a stage begins: nothing, or the pages that it listed."""

import json

import pytest

from tests.integration.server_lab import events, opened
from tests.integration.test_servers import BUILDS

SPEC = f"""
title: what a server's cache holds
builds: {BUILDS}
steps:
  - name: load
    kind: sql
    mutates: true
    sql:
      - create table t (id int primary key, pad varchar(500))
      - when: "engine == 'postgres'"
        value: "insert into t select i, repeat('x', 500) from generate_series(1, 60000) as s (i)"
      - when: "engine != 'postgres'"
        value: "insert into t select seq, repeat('x', 500) from seq_1_to_60000"
      - select count(*) from t
  - checkpoint: loaded
  - {{name: read, kind: sql, sql: [select count(*) from t where id < 10]}}
"""
INNODB = """
sweep:
  build: [mariadb]
  begin:
    from: loaded
    points:
      usual: {}
      cold: {start: cold, options: {innodb_buffer_pool_load_at_startup: true}}
      warm: {start: engine-warm}
options: [{innodb_buffer_pool_size: 128MiB, innodb_buffer_pool_dump_pct: 100}]
report: {base: {begin: usual}}
"""
POSTGRES = """
sweep: {build: [postgres]}
options: [{shared_preload_libraries: pg_prewarm}]
start: engine-warm
"""


@pytest.fixture
def lab(server_builds, tmp_path):
    with opened(server_builds, tmp_path) as found:
        yield found


def test_innodb_begins_without_pages_or_with_those_that_it_listed(lab):
    attempts = _run(lab, SPEC + INNODB)
    usual, cold, warm = (attempts[option] for option in ("OFF", "cold", "ON"))
    assert max(_filled(usual), _filled(cold)) < 0.05
    assert 0.2 < _filled(warm) < 1
    durability = {"commit": "sync", "binary log": "none", "torn pages": "protected"}
    assert json.loads((usual / "attempt.json").read_text())["durability"] == durability
    loading = json.loads((warm / "attempt.json").read_text())["loading"]
    assert "load completed" in loading["loading"]
    assert "server loaded its cache" not in {**events(usual), **events(cold)}
    assert "caches 1 stage of 4 began after the engine had loaded the pages that it listed" in _report(lab)


def test_postgres_loads_what_it_listed_before_the_first_step(lab):
    (attempt,) = _run(lab, SPEC + POSTGRES).values()
    said = events(attempt)["server loaded its cache"]["said"]
    assert "autoprewarm successfully prewarmed" in said
    assert "caches 1 stage of 2 began after" in _report(lab)


def test_postgres_without_its_library_lists_nothing(lab):
    (lab.folder / "spec.yaml").write_text(SPEC + POSTGRES.replace("pg_prewarm", '""'))
    done = lab.run("stepgrid.cli", "run", "spec.yaml")
    assert done.returncode == 3
    assert "`start: engine-warm` takes the engine's list of pages (autoprewarm.blocks), which this database lacks" in (
        done.stdout + done.stderr
    )


def _run(lab, spec):
    """Return the results of the step `read`, by how each began."""
    (lab.folder / "spec.yaml").write_text(spec)
    done = lab.run("stepgrid.cli", "run", "spec.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    results = [path.parent.parent for path in lab.store.root.glob("results/*/*/steps/0-read")]
    return {_beginning(result): result for result in results}


def _beginning(result):
    cache = json.loads((result / "attempt.json").read_text())["cache"]
    effective = json.loads((result / "server" / "effective.json").read_text())["values"]
    return "cold" if cache["start"] == "cold" else effective.get("innodb_buffer_pool_load_at_startup", "")


def _filled(result):
    """Return the share of the pool that held pages as the step began."""
    (before,) = result.glob("steps/0-read/statistics/before.json")
    gauges = json.loads(before.read_text())["gauges"]
    pages = (gauges[f"Innodb_buffer_pool_pages_{name}"] for name in ("data", "total"))
    return next(pages) / next(pages)


def _report(lab):
    return " ".join(lab.run("stepgrid.cli", "report", "spec.yaml", "--all").stdout.split())
