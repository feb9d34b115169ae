"""Events of real engines beside the seconds of a step: in the table, under the QPS of the page, and of the dips."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.integration import server_lab, servers
from tests.integration.conftest import BUILD, Lab

ROCKSDB = f"""\
title: "writers that wait for flushes and for level 0"
builds: {{rocksdb: {BUILD}}}
options:
  - {{write_buffer_size: 256KiB, max_write_buffer_number: 2, level0_file_num_compaction_trigger: 2,
     level0_slowdown_writes_trigger: 4, level0_stop_writes_trigger: 6, max_bytes_for_level_base: 1MiB,
     target_file_size_base: 256KiB, compression_type: none, disable_wal: true}}
steps:
  - {{name: overwrite, kind: db_bench, benchmarks: [fillrandom, stats], fresh: true, threads: 1}}
params: {{keys: 100M, duration: 12s}}
allow: {{no-repeats: a test, step-short: a test, load-cut: a test}}
"""
_DELAYS = ("level0_slowdown", "slowdown for pending_compaction_bytes", "memtable_slowdown")
_STOPS = ("level0_numfiles", "stop for pending_compaction_bytes", "memtable_compaction")
SERVERS = f"""\
title: "a checkpoint every few seconds"
builds: {{postgres: {servers.POSTGRES}, mariadb: {servers.MARIADB}, mysql: {servers.MYSQL}}}
define: {{builds: {{sysbench: {servers.SYSBENCH}}}}}
options:
  - {{engine: postgres, options: {{min_wal_size: 32MB, max_wal_size: 32MB}}}}
  - {{engine: mariadb, when: "storage_engine == 'innodb'", options: {{innodb_log_file_size: 4MiB}}}}
  - {{engine: mysql, options: {{innodb_redo_log_capacity: 8MiB}}}}
  - {{engine: mariadb, when: "storage_engine == 'rocksdb'", options: {{rocksdb_db_write_buffer_size: 4MiB}}}}
steps: [{{name: load, kind: sysbench, client: sysbench, lua: load, tables: 1, rows: 100k, threads: 1}}]
sweep:
  server:
    points:
      postgres: {{build: postgres}}
      innodb: {{build: mariadb}}
      mysql: {{build: mysql}}
      myrocks: {{build: mariadb, params: {{storage_engine: rocksdb}}}}
collectors: [engine_state]
allow: {{no-repeats: a test}}
"""


def test_flushes_compactions_and_stalls_of_rocksdb(lab: Lab) -> None:
    lab.write(ROCKSDB)
    done = lab.run()
    assert done.returncode == 0, done.stderr
    (step,) = lab.store.root.glob("results/*/*/steps/0-overwrite")
    events = json.loads((step / "statistics" / "events.json").read_text())["events"]
    counts = Counter(kind for _, _, kind, _ in events)
    stalls = re.findall(r"^Stalls\(count\): (.*)", (step / "stdout").read_text(), re.MULTILINE)[-1]
    for kind, names in (("write slowdown", _DELAYS), ("write stop", _STOPS)):
        assert counts[kind] == sum(int(re.findall(rf"(\d+) {name}[, ]", stalls)[0]) for name in names)
    assert counts["flush"] > 5
    assert counts["compaction"] > 5
    (page,) = lab.store.root.glob("summary/*/index.html")
    text = page.read_text()
    drawn = text[text.index('<details id="device">') :]
    assert {"compaction", "flush"} <= {*re.findall(r">(\w+)</text>", drawn[: drawn.index("</details>")])}


@pytest.fixture
def server(server_builds: Path, tmp_path: Path) -> Iterator[server_lab.Lab]:
    with server_lab.opened(server_builds, tmp_path) as opened:
        yield opened


@pytest.mark.nightly
def test_checkpoints_of_postgres_flushes_of_myrocks_and_redo_pressure_of_innodb(server: server_lab.Lab) -> None:
    (server.folder / "spec.yaml").write_text(SERVERS)
    done = server.run("stepgrid.cli", "run", "spec.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    (tables,) = server.store.root.glob("summary/*/tables")
    sql = (
        f"select axis_server, e.source, e.kind, count(*) from '{tables}/events.parquet' as e "
        f"join '{tables}/steps.parquet' using (stage, attempt, position) "
        "where second >= 0 and second + e.seconds <= step_seconds + 0.01 group by all"
    )
    with duckdb.connect() as connection:
        rows: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
    counts = {row[:3]: row[3] for row in rows}
    assert counts["postgres", "log", "checkpoint"] >= 1
    assert counts["innodb", "sampled", "redo pressure"] >= 1
    assert counts["mysql", "sampled", "redo pressure"] >= 1
    assert counts["myrocks", "log", "flush"] >= 1
    requests = server.store.root.glob("results/*/*/steps/*/collectors/engine_state/request.json")
    assert {json.loads(path.read_text())["access"]["password"] for path in requests} == {""}
    text = (tables.parent / "summary.txt").read_text()
    assert "collector engine_state: postgres has no such states" in " ".join(text.split())
