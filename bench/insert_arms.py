"""Three clients that send the same: that of the kind insert_benchmark, one in Python, and the bare driver."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import insert_python
from bench.spent import ROOT
from stepgrid.drivers.insert_benchmark import DRIVER, InsertBenchmark
from stepgrid.host.processes.supervision import environment
from stepgrid.plugins import engines
from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access
from stepgrid.run.step_files import attach

TABLE, BATCH = "pi1", 100
TIMES = 100  # that the bare driver sends in an event
SHAPES = (  # index, columns, how the first is compared, values of the first
    ("marketsegment", "productid,customerid,price", ">=", 10_000),
    ("registersegment", "cashregisterid,customerid,price", ">", 1_000),
    ("pdc", "price,dateandtime,customerid", ">=", 500),
)
ROW = "('2020-01-01 00:00:00',123,12345,1234,123,'abcdefghaaaaaaa')"  # of the usual length
COLUMNS = """transactionid {id}, dateandtime {time}, cashregisterid int NOT NULL, customerid int NOT NULL,
productid int NOT NULL, price int NOT NULL, data varchar(4000), PRIMARY KEY (transactionid)"""
TYPES = {
    "mariadb": {"id": "bigint NOT NULL AUTO_INCREMENT", "time": "datetime"},
    "postgres": {"id": "bigserial", "time": "timestamp"},
}


class Work(NamedTuple):
    action: str  # insert or query
    rows: int
    seconds: int


class Cost(NamedTuple):
    """Of one run, in microseconds of CPU per row or query."""

    user: float
    system: float
    operations: int

    @property
    def all(self) -> float:
        return self.user + self.system


class Lab(NamedTuple):
    access: Access
    server: str
    sysbench: Sequence[str]
    folder: Path
    packages: Path | None  # that Python needs besides

    def place(self) -> Path:
        made = self.folder / f"run-{len(list(self.folder.glob('run-*')))}"
        made.mkdir()
        return made


def load(lab: Lab, rows: int) -> None:
    """The table with its indexes, which the queries ask."""
    for settings in ({"action": "load", "rows": rows}, {"action": "index"}):
        argv, env, folder = _driven(lab, settings)
        _ran(argv, env, folder)


def cost(lab: Lab, arm: str, work: Work) -> Cost:
    return {"ours": _ours, "python": _python, "bare": _bare}[arm](lab, work)


def _ours(lab: Lab, work: Work) -> Cost:
    inserts = {"action": "load", "rows": work.rows, "rows_per_commit": BATCH}
    queries = {"action": "query", "duration": work.seconds}
    argv, env, folder = _driven(lab, inserts if work.action == "insert" else queries)
    user, system = _ran(argv, env, folder)
    done = _counted(folder, "inserts" if work.action == "insert" else "queries")
    return _cost(done, user, system)


def _driven(lab: Lab, given: Mapping[str, Any]) -> tuple[Sequence[str], Mapping[str, str], Path]:
    folder = lab.place()
    values = DRIVER.settings_model().model_validate(given).model_dump(mode="json")
    access = lab.access._replace(running=True)  # so that a load drops what the one before it has left
    made = InsertBenchmark().command(values, {}, Context({"sysbench": lab.sysbench}, "", folder, folder, 1, access))
    attach(folder, {**InsertBenchmark().files(values, str), **made.files})
    return made.argv, environment(made.env), folder


def _counted(folder: Path, what: str) -> int:
    lines = map(json.loads, (folder / "report.jsonl").read_text(encoding="utf-8").splitlines())
    return sum(line.get(what, 0) for line in lines if line["report"] == "client")


def _python(lab: Lab, work: Work) -> Cost:
    _make_table(lab, work)
    folder = lab.place()
    asked = {
        **work._asdict(), "server": lab.server, "table": TABLE, "rows_per_commit": BATCH,
        "connection": _connection(lab), "queries": [(sql.format(value="%s"), most) for sql, most in _queries(lab)],
    }  # fmt: skip
    attach(folder, {"request.json": json.dumps(asked)})
    paths = os.pathsep.join(str(path) for path in (lab.packages,) if path)
    argv = [sys.executable, str(ROOT / "bench" / "insert_python.py"), "request.json"]
    _ran(argv, {**os.environ, "PYTHONPATH": paths}, folder)
    found = json.loads((folder / "stdout").read_text(encoding="utf-8"))
    return _cost(found["done"], found["user"], found["system"])


def _connection(lab: Lab) -> Mapping[str, Any]:
    access = lab.access
    known = {"user": access.user, "password": access.password}
    if lab.server == "postgres":
        return {**known, "host": str(access.sockets), "port": access.port, "dbname": access.database}
    return {**known, "unix_socket": str(access.socket), "database": access.database}


def _queries(lab: Lab) -> Sequence[tuple[str, int]]:
    force = "" if lab.server == "postgres" else f" FORCE INDEX ({TABLE}_{{}})"
    return [
        (f"SELECT {columns} FROM {TABLE}{force.format(name)} WHERE {columns.split(',')[0]} {compared} {{value}}"
         f" ORDER BY {columns} LIMIT 10", most)
        for name, columns, compared, most in SHAPES
    ]  # fmt: skip


def _bare(lab: Lab, work: Work) -> Cost:
    _make_table(lab, work)
    prepared = work.action == "query" and lab.server == "postgres"
    if work.action == "insert":
        text = insert_python.INSERT.format(table=TABLE) + ",".join([ROW] * BATCH)
        own: dict[str, Any] = {"events": work.rows // BATCH // TIMES, "time": 0}
    else:
        text = _queries(lab)[0][0].format(value="?" if prepared else "100")
        own = {"events": 0, "time": work.seconds, "prepared": "on" if prepared else "off"}
    argv, env, folder = _constant(lab, own, text)
    user, system = _ran(argv, env, folder)
    events = re.search(r"total number of events: +(\d+)", (folder / "stdout").read_text(encoding="utf-8"))
    assert events
    return _cost(int(events[1]) * TIMES * (BATCH if work.action == "insert" else 1), user, system)


def _constant(lab: Lab, own: Mapping[str, Any], text: str) -> tuple[Sequence[str], Mapping[str, str], Path]:
    """Reached as our client reaches the server."""
    driven, env, folder = _driven(lab, {"action": "load", "rows": 1})
    reaching = [word for word in driven if re.match(r"--(db-driver|config-file|mysql|pgsql)", word)]
    attach(folder, {"text": text})
    words = [f"--{name}={value}" for name, value in {**own, "threads": 1, "text": "text", "times": TIMES}.items()]
    return [*lab.sysbench, str(ROOT / "bench" / "constant.lua"), *reaching, *words, "run"], env, folder


def _make_table(lab: Lab, work: Work) -> None:
    """Empty, for inserts."""
    engine = engines.served(lab.server)
    assert engine
    if work.action == "insert":
        connection = engine.connect(lab.access)
        connection.query(f"DROP TABLE IF EXISTS {TABLE}")
        connection.query(f"CREATE TABLE {TABLE} ({COLUMNS.format(**TYPES[lab.server])})")
        connection.close()


def _ran(argv: Sequence[str], env: Mapping[str, str], folder: Path) -> tuple[float, float]:
    with (folder / "stdout").open("wb") as out:
        child = subprocess.Popen(argv, cwd=folder, env=env, stdout=out, stderr=out)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, (folder / "stdout").read_text(encoding="utf-8")
    return used.ru_utime, used.ru_stime


def _cost(done: int, user: float, system: float) -> Cost:
    assert done
    return Cost(user * 1e6 / done, system * 1e6 / done, done)
