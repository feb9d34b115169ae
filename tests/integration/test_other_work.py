"""Arms on an emptied database beside equal ones, on a real server; reads of a server that find nothing."""

import os
import shutil

import pytest

from tests.integration import servers
from tests.integration.conftest import Lab

HEAD = f"""\
title: other work
define: {{builds: {{sysbench: {servers.SYSBENCH}}}}}
builds: {{mariadb: {servers.MARIADB}}}
"""
MISSES = """\
params: {tables: 1, rows: 5000, threads: 1, duration: 1s}
steps:
  - {name: load, kind: sysbench, lua: load}
  - {name: empty, kind: sql, sql: ["delete from sbtest1"], measured: false, mutates: true}
  - {checkpoint: emptied}
  - {name: NAME, kind: sysbench, lua: point_query}
"""


@pytest.fixture
def lab(server_builds, tmp_path):
    (tmp_path / "outputs").mkdir()
    shutil.copytree(server_builds, tmp_path / "outputs" / "builds", copy_function=os.link, symlinks=True)
    return Lab(tmp_path)


def test_reads_that_find_nothing_fail(lab):
    lab.write(HEAD + MISSES.replace("NAME", "points"))
    environment = {"STEPGRID_HOST_LOCK": str(lab.folder / "lock"), "STEPGRID_LOOK": "0"}
    done = lab.run(**environment)
    assert done.returncode != 0
    assert "points: it found none of the rows that it looked up: " in done.stderr
    assert " operations found 0 rows" in done.stderr
    lab.write(HEAD + MISSES.replace("NAME", "misses"))  # that is its question
    done = lab.run(**environment)
    assert done.returncode == 0, done.stderr
