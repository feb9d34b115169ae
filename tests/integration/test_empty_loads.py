"""A load that ends well and leaves no table: it fails, and no checkpoint is made of its empty database."""

import sys
from pathlib import Path

import pytest

from tests.integration.conftest import Lab
from tests.integration.servers import MARIADB, POSTGRES
from tests.needs import needs

pytestmark = needs("apt", "maven")
LIMIT = 900.0
SPEC = f"""\
title: "loads"
builds: {{mariadb: {MARIADB}, postgres: {POSTGRES}}}
steps:
  - {{name: load, kind: LOAD, mutates: true, measured: false}}
  - checkpoint: loaded
  - {{name: read, kind: sql, sql: [select 1]}}
"""
NOTHING = """command, argv: [sh, -c, "echo could not read file; exit 0"]"""
# as HammerDB does: in a database of its own
ELSEWHERE = f"""command, argv: [{sys.executable}, -c, "import psycopg; \\
  psycopg.connect(autocommit=True).execute('create database tpcc'); \\
  psycopg.connect(dbname='tpcc', autocommit=True).execute('create table t (id int)')"]"""
TABLE = 'sql, sql: ["create table t (id int)"]'


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    return Lab(tmp_path_factory.mktemp("loads"))


def failures(lab, load, only):
    lab.write(SPEC.replace("LOAD", load))
    run = lab.run("--only", f"build == '{only}'", timeout=LIMIT)
    return [line.strip() for line in run.stderr.splitlines() if "left no table" in line or "| could not" in line]


@pytest.mark.parametrize("build", ["postgres", "mariadb"])
def test_a_load_that_left_nothing_fails(lab, build):
    message = "it ended with exit status 0 and left no table: there would be nothing in the database of the checkpoint"
    assert failures(lab, NOTHING, build)[:2] == [f"load: {message}", "| could not read file"]


@pytest.mark.parametrize(("build", "load"), [("postgres", TABLE), ("mariadb", TABLE), ("postgres", ELSEWHERE)], ids=str)
def test_one_that_left_a_table_is_done(lab, build, load):
    assert failures(lab, load, build) == []
    assert any(Path(lab.folder, "outputs", "results").glob("*/*/steps/0-read"))
