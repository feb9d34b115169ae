"""Steps of kind insert_benchmark: inserts in key order, with secondary indexes, deletes and queries beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from stepgrid.plugins.driver import CountedWork, SqlOperations
from stepgrid.plugins.work import WorkFigure
from stepgrid_databases.drivers.sysbench.lua_client import LuaClient, table_engine

if TYPE_CHECKING:
    from stepgrid.plugins.driver import Runner
    from stepgrid.plugins.server import Access

ROWS_LOADED_PER_S = 25_000  # rows per second of one client: only for estimates
INSERT_RATE = 5_000  # with secondary indexes

# of the queries by range: index, its columns, how its first is compared, a value from its middle
_SHAPES = (
    ("marketsegment", "productid,customerid,price", ">=", 5000),
    ("registersegment", "cashregisterid,customerid,price", ">", 500),
    ("pdc", "price,dateandtime,customerid", ">=", 250),
)
_PASSED = (
    "action", "rows_per_commit", "insert_rate", "deletes", "query", "rows_per_query", "indexes", "data_length_min",
    "data_length_max", "partitions", "table_options",
)  # fmt: skip


class InsertBenchmark(LuaClient):
    kind = "insert_benchmark"
    title = "the insert benchmark"
    revision = 2
    parser = 4
    tables = ("insert_benchmark", "response_times", "probes", "iostat")
    work_figures = (WorkFigure("rows_deleted", "{:.3g} rows deleted for 100 inserted", 10.0, of="rows_inserted"),)
    module = "writing"
    rates = ("query", "insert")
    uncounted = ("index", "check")
    operations = SqlOperations(point_read="point", short_range="range", insert="insert", delete="delete")

    def workloads(self, settings: Mapping[str, Any]) -> Sequence[str]:
        names = () if settings["action"] == "check" else roles(settings)
        return [str(settings["query"]) if name == "query" else name for name in names]

    def counted_work(self, settings: Mapping[str, Any]) -> CountedWork | None:
        rate = {"load": ROWS_LOADED_PER_S, "insert": INSERT_RATE}.get(settings["action"])
        return CountedWork("rows", settings["rows"], settings["rows"] / rate) if rate else None

    def targets(self, settings: Mapping[str, Any]) -> Mapping[str, float]:
        """Give the queries/s and the rows/s that all clients of a step are asked for."""
        rate, clients, queries = settings.get("insert_rate"), settings.get("clients"), super().targets(settings)
        inserts = {} if rate is None or clients is None else {"target_inserts_per_s": float(int(rate) * clients)}
        return {**queries, **inserts}

    def statements(self, settings: Mapping[str, Any], files: Mapping[str, str], engine: str) -> Sequence[str]:
        """Give the queries: to plan deletes, PostgreSQL would clean up the oldest entries, whose cost is measured."""
        if settings["action"] != "query":
            return ()
        if settings["query"] == "point":
            ids = ", ".join(map(str, range(1, settings["rows_per_query"] + 1)))
            return (f"SELECT transactionid,productid,data FROM pi1 WHERE transactionid IN ({ids})",)
        return [
            f"SELECT {columns} FROM pi1{'' if engine == 'postgres' else f' FORCE INDEX (pi1_{index})'} WHERE "
            f"{columns.partition(',')[0]} {compared} {value} ORDER BY {columns} LIMIT {settings['rows_per_query']}"
            for index, columns, compared, value in _SHAPES[: settings["indexes"]]
        ]

    def threads(self, settings: Mapping[str, Any]) -> int:
        return 1 if settings["action"] == "check" else settings["clients"] * len(roles(settings))

    def duration(self, settings: Mapping[str, Any]) -> float | None:
        return super().duration(settings) if ends_by_clock(settings) else None  # rows may take longer

    def script_options(self, settings: Mapping[str, Any], access: Access) -> Mapping[str, Any]:
        options = {name: settings[name] for name in _PASSED if settings[name] not in (None, "")}
        options |= {
            "clients": settings["clients"],
            "tables": settings["tables"] or settings["clients"],
            "roles": ",".join(roles(settings)),
        }
        if settings["session"]:
            options["session"] = ";".join(settings["session"])
        options |= {
            "rows": rows_of_client(settings),
            "seconds": int(settings["duration"]) if ends_by_clock(settings) else 0,
            **table_engine(access),
            "anew": access.running and settings["action"] == "load",  # its tables may exist already
        }
        if settings.get("arrivals") and settings["insert_rate"]:
            options["insert_arrivals"] = True
        if settings["partitions"] is not None:
            rows = settings["rows"] * settings["clients"] / options["tables"]
            options["partition_rows"] = settings["rows_per_partition"] or max(1, ceil(rows / settings["partitions"]))
        return options


def ends_by_clock(settings: Mapping[str, Any]) -> bool:
    """Check whether the clock ends a step: one without inserts has no rows to end with."""
    return settings["action"] == "query" and (settings["ends"] == "clock" or settings["insert_rate"] is None)


def rows_of_client(settings: Mapping[str, Any]) -> int:
    """Count the rows that each client inserts; 0 where the clock ends the step."""
    if settings["action"] == "index":
        return int(settings["first_rows"])
    if settings["action"] == "query":
        return 0 if ends_by_clock(settings) else int(settings["insert_rate"] * settings["duration"])
    return int(settings["rows"] or 0)


def roles(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the roles of each client, a thread for each."""
    inserts = settings["action"] != "query" or settings["insert_rate"] is not None
    deletes = inserts and bool(settings["deletes"])
    used = {"insert": inserts, "delete": deletes, "query": settings["action"] == "query"}
    return tuple(name for name, is_used in used.items() if is_used)


DRIVER: Runner = InsertBenchmark()
