"""The command line of a step: typed arguments, never a shell; the password is in a file that the workload removes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.sysbench import lua_client
from stepgrid.drivers.sysbench.lua_client import CLIENT, MOST
from stepgrid.drivers.sysbench.workload_files import AGAIN, again, is_own, script
from stepgrid.model.plan import Command

if TYPE_CHECKING:
    from stepgrid.plugins.driver import Context
    from stepgrid.plugins.server import Access

LOAD = "load"
BATCH = 1000  # rows of a statement that loads

# settings that are options of a workload (options.lua), with the defaults there
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
    access = lua_client.server_access(context)
    anew = access.running and settings["lua"] == LOAD  # its tables may exist already
    options = {
        **lua_client.connection_options(access),
        **_run_options(settings, context),
        **_limits(settings),
        **_workload_options(settings, access),
    }
    return Command(
        argv=(
            *context.programs[CLIENT],
            AGAIN if anew else script(settings["lua"]),
            *lua_client.flags(options),
            "run",
        ),
        env=lua_client.SEARCH,
        duration=settings["duration"],
        files={**lua_client.password_file(access), **(again() if anew else {})},
        secrets=(lua_client.CONNECTION,),
    )


def _run_options(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    options: dict[str, Any] = {
        "rand-seed": lua_client.client_seed(context),
        "threads": settings["threads"],
        "report-interval": 1,
        "histogram": True,
    }
    if settings.get("rate") is not None:
        options["rate"] = settings["rate"]
    if not settings["prepared"]:
        options["db-ps-mode"] = "disable"
    if is_own(settings["lua"]) and settings["distribution"] not in _SYSBENCH_LACKS:
        options["rand-type"] = settings["distribution"]
    return options


def _limits(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Give the limits of a run: a load ends by itself; without any limit sysbench warns of an endless run."""
    if settings["lua"] == LOAD:
        return {"time": 0, "events": min(MOST, settings["tables"] * settings["rows"] + settings["threads"])}
    if settings["duration"] is not None:
        return {"time": int(settings["duration"])}
    return {"time": 0, "events": settings["events"]}


def _workload_options(settings: Mapping[str, Any], access: Access) -> dict[str, Any]:
    options = {option: settings[name] for name, (option, default) in _OPTIONS.items() if settings[name] != default}
    if settings["lua"] == LOAD:
        options["batch"] = BATCH
    if settings["lua"] == LOAD or is_own(settings["lua"]):
        options |= lua_client.table_engine(access)
    return {**options, **settings["arguments"]}
