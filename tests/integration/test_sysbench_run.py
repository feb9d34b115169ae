"""Steps of sysbench through a whole spec: a load that is shared, its queries, a client that fails."""

import json
import os
import re
import shutil

import duckdb

from tests.integration import servers
from tests.integration.conftest import Lab

SPEC = f"""\
title: sysbench
define: {{builds: {{sysbench: {servers.SYSBENCH}}}}}
builds: {{mariadb: {servers.MARIADB}}}
params: {{rows: 2000, tables: 2, threads: 2, duration: 2s}}
steps:
  - {{name: load, kind: sysbench, lua: load, mutates: true, measured: false}}
  - {{checkpoint: loaded}}
  - {{name: point, kind: sysbench, lua: point_query, warmup: 1s}}
  - {{name: scan, kind: sysbench, lua: scan, threads: 1}}
  - {{name: slow, kind: sysbench, lua: slow.lua, threads: 1}}
  - {{name: late, kind: sysbench, lua: slow.lua, threads: 1, rate: 2000, duration: 1s}}
  - {{checkpoint: asked}}
  - {{name: mine, kind: sysbench, lua: mine.lua}}
"""
MINE = """\
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT * FROM nowhere") end
"""
SLOW = """\
function thread_init() con = sysbench.sql.driver():connect() end
function event()
    con:query("SELECT 1")
    local sum = 0
    for number = 1, 3e6 do sum = sum + number % 7 end
end
"""


def test_a_load_its_queries_and_a_client_that_fails(server_builds, tmp_path):
    lab = Lab(tmp_path)
    (tmp_path / "outputs").mkdir()
    shutil.copytree(server_builds, tmp_path / "outputs" / "builds", copy_function=os.link, symlinks=True)
    lab.write(SPEC)
    lab.write(MINE, "mine.lua")
    lab.write(SLOW, "slow.lua")
    done = lab.run(STEPGRID_HOST_LOCK=str(tmp_path / "lock"), STEPGRID_LOOK="0")
    assert done.returncode == 3, done.stdout + done.stderr
    (failure,) = tmp_path.glob("outputs/attempts/*/*/failure.json")
    failed = json.loads(failure.read_text())
    assert failed["step"] == "mine"
    assert failed["message"].startswith("sysbench failed: mysql_drv_query() returned error 1146 (Table '")
    _check(tmp_path)
    (said,) = (path.read_text() for path in tmp_path.glob("outputs/summary/*/summary.txt"))
    warned = re.findall(r"(\w+): the client used more CPU than its\s+server", said)
    assert warned == ["slow", "late"]


def _check(folder):
    tables = next(folder.glob("outputs/summary/*/tables"))
    where = f"FROM '{tables}/steps.parquet' WHERE status = 'done' ORDER BY position, step"
    waited = "avg_us > 10 * 1e6 / transactions_per_s"  # for a client, from when it should have begun
    columns = (
        f"step, operations, write_queries, rows_per_s = 2000 * qps, client_cpu_us_per_op < 1000, {waited}, target_met"
    )
    rows = {row[0]: row[1:] for row in duckdb.sql(f"SELECT {columns} {where}").fetchall()}
    assert rows["load"][0] == 4000
    assert rows["point"][1:4] == (0, None, True)
    assert rows["scan"][2] is True
    assert {name: row[-2:] for name, row in rows.items() if name in ("slow", "late")} == {
        "slow": (False, None),
        "late": (None, 0),  # no latency: it did not keep up
    }
    assert set(rows) == {"load", "point.warmup", "point", "scan", "slow", "late"}
    merged = (
        f"SELECT step, sum(h.operations) = any_value(s.transactions) FROM '{tables}/histograms.parquet' AS h "
        f"JOIN '{tables}/steps.parquet' AS s USING (stage, attempt, position, step) GROUP BY step ORDER BY step"
    )
    assert duckdb.sql(merged).fetchall() == [(step, True) for step in ("point", "point.warmup", "scan", "slow")]
    kept = [path for path in folder.glob("outputs/results/*/*/steps/*/*") if path.is_file()]
    assert "point_query.lua" in {path.name for path in kept}
    assert not [path for path in kept if path.name == "connection" or "-password=" in path.read_text()]
