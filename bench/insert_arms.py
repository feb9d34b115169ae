"""The insert benchmark by three clients: what each sends for rows, and for queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bench import client_arms, insert_python
from bench.client_arms import Cost, Lab, Lines
from stepgrid.plugins import registry
from stepgrid_databases.drivers.insert_benchmark import InsertBenchmark

TABLE, BATCH = "pi1", 100
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
DRIVER = InsertBenchmark()


class Work(NamedTuple):
    action: str  # insert or query
    rows: int
    seconds: int


def load(lab: Lab, rows: int) -> None:
    """The table with its indexes, which the queries ask."""
    client_arms.load(lab, DRIVER, {"action": "load", "rows": rows})
    client_arms.load(lab, DRIVER, {"action": "index"})


def cost(lab: Lab, arm: str, work: Work) -> Cost:
    return {"ours": _ours, "python": _python, "bare": _bare}[arm](lab, work)


def _ours(lab: Lab, work: Work) -> Cost:
    if work.action == "query":
        return client_arms.ours(lab, DRIVER, {"action": "query", "duration": work.seconds}, _counted("queries"))
    given = {"action": "load", "rows": work.rows, "rows_per_commit": BATCH}
    return client_arms.ours(lab, DRIVER, given, _counted("inserts"))


def _counted(what: str) -> Any:
    def counted(lines: Lines) -> int:
        return sum(line.get(what, 0) for line in lines if line["report"] == "client")

    return counted


def _python(lab: Lab, work: Work) -> Cost:
    _make_table(lab, work)
    queries = [(sql.format(value="%s"), most) for sql, most in _queries(lab)]
    return client_arms.python(
        lab, "insert_python.py", {**work._asdict(), "table": TABLE, "rows_per_commit": BATCH, "queries": queries}
    )


def _bare(lab: Lab, work: Work) -> Cost:
    _make_table(lab, work)
    if work.action == "query":
        prepared = lab.server == "postgres"
        text = _queries(lab)[0][0].format(value="?" if prepared else "100")
        return client_arms.bare(lab, DRIVER, [text], {"seconds": work.seconds, "prepared": "on" if prepared else "off"})
    text = insert_python.INSERT.format(table=TABLE) + ",".join([ROW] * BATCH)
    found = client_arms.bare(lab, DRIVER, [text], {"times": work.rows // BATCH})
    return Cost(found.user / BATCH, found.system / BATCH, found.operations * BATCH)


def _queries(lab: Lab) -> Sequence[tuple[str, int]]:
    force = "" if lab.server == "postgres" else f" FORCE INDEX ({TABLE}_{{}})"
    return [
        (f"SELECT {columns} FROM {TABLE}{force.format(name)} WHERE {columns.split(',')[0]} {compared} {{value}}"
         f" ORDER BY {columns} LIMIT 10", most)
        for name, columns, compared, most in SHAPES
    ]  # fmt: skip


def _make_table(lab: Lab, work: Work) -> None:
    """Empty, for inserts."""
    engine = registry.server_engine(lab.server)
    assert engine
    if work.action == "insert":
        connection = engine.connect(lab.access)
        connection.query(f"DROP TABLE IF EXISTS {TABLE}")
        connection.query(f"CREATE TABLE {TABLE} ({COLUMNS.format(**TYPES[lab.server])})")
        connection.close()
