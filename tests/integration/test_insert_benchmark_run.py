"""The insert benchmark in a stage: one that a kill ends is failed and says so; through a whole spec, its figures."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from stepgrid.model.plan import PlannedStep
from stepgrid_databases.drivers.insert_benchmark import DRIVER, InsertBenchmark
from tests.integration import servers
from tests.integration.conftest import Lab as Folder
from tests.integration.server_lab import Lab, engine_of, events, opened
from tests.waiting import LONG, until

KILLED = "was killed by SIGKILL (by the kernel when memory runs out, or by someone)"
SPEC = f"""\
title: the insert benchmark
define: {{builds: {{sysbench: {servers.SYSBENCH}}}}}
builds: {{mariadb: {servers.MARIADB}}}
params: {{clients: 2, deletes: true, rows_per_commit: 50}}
steps:
  - {{name: l.i0, kind: insert_benchmark, action: load, rows: 4000, mutates: true}}
  - {{checkpoint: loaded}}
  - {{name: l.x, kind: insert_benchmark, action: index, mutates: true}}
  - {{name: l.i1, kind: insert_benchmark, action: insert, rows: 1000, mutates: true}}
  - {{name: q100, kind: insert_benchmark, action: query, insert_rate: 100, duration: 1s, mutates: true}}
  - {{name: check, kind: insert_benchmark, action: check, measured: false}}
"""


def _server(attempt: Path) -> int:
    return int(events(attempt)["server started"]["pid"])


def _client(attempt: Path) -> int:
    return int(events(attempt)["started"]["pid"])


@pytest.mark.parametrize(
    ("victim", "said"), [(_server, f"the server {KILLED} while the step ran"), (_client, f"it {KILLED}")]
)
def test_a_kill_ends_the_step(server_builds: Path, tmp_path: Path, victim: Callable[[Path], int], said: str) -> None:
    settings = DRIVER.settings_model().model_validate({"action": "load", "rows": 100_000_000, "clients": 2})
    with opened(server_builds, tmp_path) as lab:
        (client,) = [path.name for path in lab.store.root.glob("builds/*") if engine_of(path) == "sysbench"]
        values, setup = settings.model_dump(mode="json"), {"client": client}
        files = InsertBenchmark().files(values, str)
        lab.plan("mariadb", PlannedStep("l.i0", "insert_benchmark", 2, values, {}, 1, setup=setup, files=files))
        run = lab.start("stepgrid.pipeline", "run-stage", "p", "s-1")
        os.kill(victim(until(lambda: _inserting(lab))), signal.SIGKILL)
        assert run.wait(LONG) == 1
        assert (lab.failure()["message"], lab.failure()["step"]) == (said, "l.i0")


def _inserting(lab: Lab) -> Path | None:
    """The attempt, when a second of it was reported."""
    reports = lab.folder.glob("outputs/attempts/s-1/*/steps/*/report.jsonl")
    return next((path.parents[2] for path in reports if '"inserts"' in path.read_text()), None)


def test_the_figures_of_a_whole_run(server_builds: Path, tmp_path: Path) -> None:
    lab = Folder(tmp_path)
    (tmp_path / "outputs").mkdir()
    shutil.copytree(server_builds, tmp_path / "outputs" / "builds", copy_function=os.link, symlinks=True)
    lab.write(SPEC)
    done = lab.run(STEPGRID_HOST_LOCK=str(tmp_path / "lock"), STEPGRID_LOOK="0")
    assert done.returncode == 0, done.stdout + done.stderr
    found = _figures(tmp_path)
    assert found["l.i0"] == (8000, True, None, None, True)
    assert found["l.x"] == (8200, True, None, None, True)
    assert found["l.i1"] == (2000, True, True, None, True)
    assert found["q100"][0] > 0
    assert found["q100"][1:] == (True, True, 200, True)
    (report,) = tmp_path.glob("outputs/results/*/*/steps/*-check/report.jsonl")
    checked = [line for line in map(json.loads, report.read_text().splitlines()) if line["report"] == "check"]
    assert [line["rows"] for line in checked] == [4100, 4100]
    kept = [path for path in tmp_path.glob("outputs/results/*/*/steps/*/*") if path.is_file()]
    assert not [path for path in kept if path.name == "connection" or "-password=" in path.read_text()]


def _figures(folder: Path) -> dict[str, tuple[Any, ...]]:
    tables = next(folder.glob("outputs/summary/*/tables"))
    columns = "step, operations, inserts_per_s > 0, deletes_per_s > 0, target_inserts_per_s, min_id_probe_seconds > 0"
    rows = duckdb.sql(f"SELECT {columns} FROM '{tables}/steps.parquet' WHERE status = 'done'").fetchall()
    return {row[0]: row[1:] for row in rows}
