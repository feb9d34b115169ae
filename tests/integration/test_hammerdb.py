"""HammerDB on PostgreSQL and MariaDB, from local copies of its repositories: STEPGRID_HAMMERDB names their folder."""

import os
from pathlib import Path

import duckdb
import pytest

from tests.integration.conftest import ROOT, Lab
from tests.needs import needs

REPOSITORIES = {
    "https://github.com/TPC-Council/HammerDB.git": "HammerDB",
    "https://github.com/sm-shaw/pgtclng.git": "pgtclng",
}
SPEC = """\
title: HammerDB, small
include: [{library}/postgres.yaml, {library}/mariadb.yaml, {library}/hammerdb.yaml]
builds: {{server: {{extends: {build}}}}}
params: {{warehouses: 1, loaders: 1, users: 1, rampup: 0, minutes: 0.1}}
workload: {workload}
report: {{metric: nopm}}
allow: {{step-short: a test}}
"""


@pytest.fixture
def lab(tmp_path):
    folder = os.environ.get("STEPGRID_HAMMERDB", "")
    absent = [name for name in REPOSITORIES.values() if not Path(folder, name).is_dir()]
    if not folder or absent:
        pytest.skip("STEPGRID_HAMMERDB names no folder with the repositories HammerDB and pgtclng")
    mirrors = "".join(f'  "{url}": {Path(folder, name)}\n' for url, name in REPOSITORIES.items())
    (tmp_path / "site.yaml").write_text(f"mirrors:\n{mirrors}")
    return Lab(tmp_path)


@pytest.mark.nightly
@needs("apt", "cc")
@pytest.mark.parametrize(
    ("build", "workload"), [("postgres.debian17", "hammerdb"), ("mariadb.debian, version: 11.8", "hammerdb.mysql")]
)
def test_new_orders_of_a_server(lab, build, workload):
    text = SPEC.format(library=ROOT / "specs" / "library", build=build, workload=workload)
    lab.write(text)
    done = lab.run("--site", "site.yaml", timeout=900, STEPGRID_LOOK="0")
    assert done.returncode == 0, done.stdout + done.stderr
    (tables,) = lab.folder.glob("outputs/summary/*/tables")
    steps = duckdb.sql(f"SELECT nopm, operations FROM '{tables}/steps.parquet' WHERE step = 'run'")
    ((nopm, orders),) = steps.fetchall()
    assert 0 < nopm / 10 <= orders  # of 6 s; the step's orders are those before and after, too
