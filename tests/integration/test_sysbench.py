"""sysbench on two real servers through a whole spec: what is measured, and the tables that its report has by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.integration import servers
from tests.integration.server_lab import Lab, opened

SPEC = f"""
title: microbenchmarks
builds:
  mariadb: {servers.MARIADB}
  postgres: {servers.POSTGRES}
define:
  builds: {{sysbench: {servers.SYSBENCH}}}
options:
  - {{engine: mariadb, options: {{innodb_buffer_pool_size: 64MiB, innodb_flush_log_at_trx_commit: 2}}}}
  - {{engine: postgres, options: {{shared_buffers: 64MB, synchronous_commit: off}}}}
params: {{tables: 2, rows: 2000, threads: 2}}
steps:
  - {{name: load, kind: sysbench, lua: load, measured: false, mutates: true}}
  - {{name: settle, kind: quiesce, measured: false, quiet: 1s, timeout: 2s}}
  - {{checkpoint: loaded}}
  - {{name: read-only.pre, kind: sysbench, lua: read_only, for: {{range: [10, 100]}}, duration: 1s}}
  - {{name: update-index, kind: sysbench, lua: update_index, mutates: true, duration: 1s}}
  - {{name: read-only, kind: sysbench, lua: read_only, for: {{range: [10, 100]}}, duration: 1s}}
  - {{name: scan, kind: sysbench, lua: scan, duration: 3s}}
sweep:
  server:
    maria: {{build: mariadb}}
    pg: {{build: postgres}}
report: {{base: {{server: maria}}}}
allow: {{no-repeats: a test, step-short: a test}}
"""
pytestmark = pytest.mark.nightly  # test_posts.py has the microbenchmarks, tests/layouts the tables
FIGURE = r"[\d,.]+(?: [KMG]iB)?"


@pytest.fixture(scope="module")
def lab(server_builds: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with opened(server_builds, tmp_path_factory.mktemp("sysbench"), False) as found:
        (found.folder / "spec.yaml").write_text(SPEC)
        done = found.run("stepgrid.cli", "run", "spec.yaml")
        assert done.returncode == 0, done.stdout + done.stderr
        yield found


@pytest.fixture(scope="module")
def summary(lab: Lab) -> str:
    (found,) = lab.folder.glob("outputs/summary/*/summary.txt")
    return found.read_text()


def table(summary: str, title: str) -> list[str]:
    """Its lines, each figure as #."""
    lines = summary[summary.index(f"\n{title}\n") :].split("\n\n")[0].splitlines()[3:]
    return [re.sub(r"\s+", " ", re.sub(rf"(?<![\w=-]){FIGURE}\*?(?![\w=])", "#", line)).strip() for line in lines]


def test_every_step_has_its_figures_of_server_and_client(lab: Lab) -> None:
    rows = duckdb.sql(
        f"SELECT axis_server, step, status, qps > 0, p99_us > 0, client_cpu_us_per_op > 0, server_cpu_us_per_op > 0, "
        f"client_id IS NOT NULL FROM '{lab.folder}/outputs/summary/*/tables/steps.parquet' WHERE measured"
    ).fetchall()
    assert len(rows) == 12
    assert {row[2:] for row in rows} == {("done", True, True, True, True, True)}


def test_figures_relative_to_the_other_server_by_group(summary: str) -> None:
    """Each server has a build of its own, and is compared all the same."""
    assert table(summary, "relative QPS by group: range queries with aggregation")[:7] == [
        "Relative to: server=maria",
        "col-1 : pg",
        "col-1 step",
        "# read-only_range=10",
        "# read-only.pre_range=10",
        "# read-only_range=100",
        "# read-only.pre_range=100",
    ]
    assert table(summary, "relative QPS by group: writes")[3:] == ["# update-index"]


def test_absolute_figures_and_what_writes_cost_those_that_read(summary: str) -> None:
    assert table(summary, "QPS by group: range queries without aggregation")[:3] == [
        "maria pg step",
        "# # scan",
        "# # scan, rows/s",
    ]
    assert table(summary, "QPS after what writes, relative to before it") == [
        "maria pg step",
        "# # read-only_range=10",
        "# # read-only_range=100",
    ]


def test_the_load_its_sizes_and_the_cpu(summary: str) -> None:
    loads = table(summary, "load and sizes")
    assert loads[:3] == [
        "server rows/s load (s) inserting (s) indexing (s) data indexes files files, at the end",
        "maria # # # # # # # #",
        "pg # # # # # # # #",
    ]
    assert table(summary, "CPU per operation")[1:3] == ["# + # # + # scan", "# + # # + # read-only_range=10"]
    assert table(summary, "per operation: scan")[:3] == [
        "--- absolute",
        "cpu/o cs/o r/o rKB/o wKB/o o/s dbms",
        "# # # # # # maria",
    ]
