"""A finding of a server as a script, which sets the server up, starts it, loads it and stops it by itself."""

import os
import re
import subprocess

import pytest

from tests.integration import servers
from tests.integration.server_lab import opened

pytestmark = [pytest.mark.integration, pytest.mark.nightly]
NOBODY = 65534
SPEC = f"""\
title: commits that are synced
builds: {{mariadb: {servers.MARIADB}, postgres: {servers.POSTGRES}, sysbench: {servers.SYSBENCH}}}
options:
  - {{engine: mariadb, options: {{innodb_flush_log_at_trx_commit: "{{{{ params.synced }}}}"}}}}
  - {{engine: postgres, options: {{synchronous_commit: "{{{{ params.synced == 1 }}}}"}}}}
steps:
  - {{name: load, kind: sysbench, lua: load, rows: 1000, mutates: true, measured: false}}
  - checkpoint: loaded
  - {{name: settle, kind: quiesce, quiet: 1s, timeout: 3s, measured: false}}
  - {{name: update, kind: sysbench, lua: update_nonindex, rows: 1000, duration: 1s, mutates: true}}
params: {{client: sysbench, tables: 1, threads: 2}}
sweep:
  build: [mariadb, postgres]
  sync: {{points: {{none: {{params: {{synced: 0}}}}, each: {{params: {{synced: 1}}}}}}}}
repeat: 3
report: {{base: {{sync: none}}}}
allow: {{step-short: a test, mixed-durability: a test}}
"""


@pytest.fixture(scope="module")
def lab(server_builds, tmp_path_factory):
    with opened(server_builds, tmp_path_factory.mktemp("lab"), everywhere=True) as lab:
        (lab.folder / "spec.yaml").write_text(SPEC)
        run = lab.run("stepgrid.cli", "run", "spec.yaml")
        assert run.returncode == 0, run.stderr
        yield lab


@pytest.mark.parametrize("server", ["mariadb", "postgres"])
def test_the_script_runs_its_server(lab, server):
    cell, folder = f"build={server},sync=each", lab.folder / server
    run = lab.run("stepgrid.cli", "repro", "spec.yaml", cell, "-o", server)
    assert run.returncode == 0, run.stderr
    assert "- `settle`: stepgrid waited until engine and device were idle\n" in (folder / "README.md").read_text()
    account = {}
    if os.geteuid() == 0:
        refused = subprocess.run(["sh", folder / "repro.sh"], capture_output=True, text=True, check=False)
        assert (refused.returncode, refused.stderr) == (
            2,
            "repro: servers refuse to run as root: use an ordinary account\n",
        )
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        account = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    run = subprocess.run(
        ["sh", folder / "repro.sh"],
        env={"PATH": os.environ["PATH"], "STEPGRID_ROUNDS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **account,
    )
    assert run.stderr == ""
    assert re.match(r"round 1: QPS A \d+\.\d+ B \d+\.\d+, B/A 0\.\d+\n", run.stdout)
    assert run.returncode == 0, run.stdout
    assert not list(folder.glob("repro.*/"))
