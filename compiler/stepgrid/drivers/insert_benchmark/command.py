"""The command line of a step: sysbench with a thread for each role of each client."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.sysbench import server_options
from stepgrid.drivers.sysbench.client_files import REPORTER, SEARCH
from stepgrid.model.package_data import TEMPLATES

if TYPE_CHECKING:
    from stepgrid.model.command import Command
    from stepgrid.plugins.driver import Context
    from stepgrid.plugins.server import Access

CLIENT = "sysbench"
FOLDER = TEMPLATES / "insert_benchmark"
MAIN = "insert_benchmark.lua"
YEAR = 31_536_000  # its limit of seconds: none would be a warning

_PASSED = (
    "action", "rows_per_commit", "insert_rate", "deletes", "query", "rows_per_query", "indexes", "data_length_min",
    "data_length_max", "partitions", "table_options",
)  # fmt: skip


def command(settings: Mapping[str, Any], context: Context) -> Command:
    from stepgrid.model.command import Command

    access = server_options.server(context)
    flags = {**server_options.options(access), **_general(settings, context), **_own(settings, access)}
    return Command(
        argv=(*context.programs[CLIENT], MAIN, *server_options.words(flags), "run"),
        env=SEARCH,
        duration=settings["duration"] if ends_by_clock(settings) else None,  # rows may take longer
        files=server_options.password_file(access),
        secrets=(server_options.CONNECTION,),
    )


def ends_by_clock(settings: Mapping[str, Any]) -> bool:
    """A step without inserts has no rows to end with."""
    return settings["action"] == "query" and (settings["ends"] == "clock" or settings["insert_rate"] is None)


def rows_of_client(settings: Mapping[str, Any]) -> int:
    """That it is to insert; 0 where the clock says when it ends."""
    if settings["action"] == "index":
        return int(settings["first_rows"])
    if settings["action"] == "query":
        return 0 if ends_by_clock(settings) else int(settings["insert_rate"] * settings["duration"])
    return int(settings["rows"] or 0)


def roles(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Of each client, a thread for each."""
    inserts = settings["action"] != "query" or settings["insert_rate"] is not None
    deletes = inserts and bool(settings["deletes"])
    named = {"insert": inserts, "delete": deletes, "query": settings["action"] == "query"}
    return tuple(name for name, there in named.items() if there)


def _general(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    threads = 1 if settings["action"] == "check" else settings["clients"] * len(roles(settings))
    return {
        "rand-seed": server_options.seed(context),
        "threads": threads + REPORTER,
        "time": YEAR,
        "events": 0,
    }


def _own(settings: Mapping[str, Any], access: Access) -> dict[str, Any]:
    """Of the script: what the settings say as they stand, then what follows from them."""
    found = {name: settings[name] for name in _PASSED if settings[name] not in (None, "")}
    return {**found, **_clients(settings), **_end(settings), **_tables(settings, access)}


def _clients(settings: Mapping[str, Any]) -> dict[str, Any]:
    session = {"session": ";".join(settings["session"])} if settings["session"] else {}
    tables = _table_count(settings)
    return {"clients": settings["clients"], "tables": tables, "roles": ",".join(roles(settings)), **session}


def _end(settings: Mapping[str, Any]) -> dict[str, int]:
    seconds = int(settings["duration"]) if ends_by_clock(settings) else 0
    return {"rows": rows_of_client(settings), "seconds": seconds}


def _tables(settings: Mapping[str, Any], access: Access) -> dict[str, Any]:
    """The storage engine is that of the tables; PostgreSQL's is the server's."""
    known = {"storage_engine": access.storage_engine} if server_options.driver(access) == "mysql" else {}
    anew = access.running and settings["action"] == "load"  # its tables may be there
    return {**known, "anew": anew, **_partitions(settings)}


def _partitions(settings: Mapping[str, Any]) -> dict[str, int]:
    if settings["partitions"] is None:
        return {}
    loaded = settings["rows"] * settings["clients"] / _table_count(settings)
    return {"partition_rows": settings["rows_per_partition"] or max(1, ceil(loaded / settings["partitions"]))}


def _table_count(settings: Mapping[str, Any]) -> int:
    return int(settings["tables"] or settings["clients"])
