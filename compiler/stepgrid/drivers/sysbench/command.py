"""The command line of a step: typed arguments, never a shell; the password is in a file that the workload removes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepgrid.drivers.sysbench import server_options
from stepgrid.drivers.sysbench.client_files import SEARCH
from stepgrid.drivers.sysbench.server_options import MOST
from stepgrid.drivers.sysbench.workload_files import AGAIN, again, is_own, script
from stepgrid.model.command import Command
from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access

CLIENT = "sysbench"
LOAD = "load"
BATCH = 1000  # rows of a statement that loads

# settings that are options of a workload (options.lua); with what it takes where nothing is said
_OPTIONS: Mapping[str, tuple[str, Any]] = {
    "tables": ("tables", 1),
    "rows": ("table-size", None),
    "range": ("range-size", 100),
    "distribution": ("distribution", "uniform"),
    "covered": ("covered", True),
    "index": ("index", "pk"),
    "primary_key": ("primary-key", True),
    "table_options": ("table-options", ""),
}
_SYSBENCH_LACKS = ("zipfian",)  # of the distributions; up to 1.0


def command(settings: Mapping[str, Any], context: Context) -> Command:
    from stepgrid.model.command import Command

    access = server_options.server(context)
    reaching, general = server_options.options(access), _general(settings, context)
    flags = {**reaching, **general, **_limits(settings), **_own(settings, access)}
    anew = access.running and settings["lua"] == LOAD  # its tables may be there
    return Command(
        argv=(
            *context.programs[CLIENT],
            AGAIN if anew else script(settings["lua"]),
            *server_options.words(flags),
            "run",
        ),
        env=SEARCH,
        duration=settings["duration"],
        files={**server_options.password_file(access), **(again() if anew else {})},
        secrets=(server_options.CONNECTION,),
    )


def _general(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rand-seed": server_options.seed(context),
        "threads": settings["threads"],
        "report-interval": 1,
        "histogram": True,
    }
    if settings.get("rate") is not None:
        found["rate"] = settings["rate"]
    if not settings["prepared"]:
        found["db-ps-mode"] = "disable"
    if is_own(settings["lua"]) and settings["distribution"] not in _SYSBENCH_LACKS:
        found["rand-type"] = settings["distribution"]
    return found


def _limits(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A load ends by itself; without any limit sysbench warns of an endless run."""
    if settings["lua"] == LOAD:
        return {"time": 0, "events": min(MOST, settings["tables"] * settings["rows"] + settings["threads"])}
    if settings["duration"] is not None:
        return {"time": int(settings["duration"])}
    return {"time": 0, "events": settings["events"]}


def _own(settings: Mapping[str, Any], access: Access) -> dict[str, Any]:
    """Of the workload. The storage engine is that of the tables; PostgreSQL's is the server's."""
    found = {option: settings[name] for name, (option, usual) in _OPTIONS.items() if settings[name] != usual}
    if settings["lua"] == LOAD:
        found["batch"] = BATCH
    if server_options.driver(access) == "mysql" and (settings["lua"] == LOAD or is_own(settings["lua"])):
        found["storage-engine"] = access.storage_engine
    return {**found, **settings["arguments"]}
