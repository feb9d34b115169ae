"""The workload of a step: its Lua files with those that they require, and the command line with typed arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from stepgrid.package import TEMPLATES
from stepgrid.plugins.driver import SqlOperations
from stepgrid.plugins.statements import with_values
from stepgrid_databases.drivers.sysbench import lua_client

if TYPE_CHECKING:
    from stepgrid.model.plan import Command
    from stepgrid.plugins.driver import Context
    from stepgrid.plugins.server import Access

LOAD = "load"
_TRANSACTIONS = "read_only read_only_count read_only_distinct read_only_order read_only_simple read_only_sum read_write"
OPERATIONS = SqlOperations(
    point_read=f"point_query points hot_points random_points {_TRANSACTIONS}",
    short_range=f"range {_TRANSACTIONS}",
    full_scan="scan",
    insert="load insert write_only read_write",
    update_of_an_indexed_column="update_index write_only read_write",
    other_update="update_nonindex update_inlist write_only read_write",
    delete="delete write_only read_write",
    transaction_of_several_statements=f"write_only {_TRANSACTIONS}",
)
BATCH = 1000  # rows of a statement that loads
UPDATED_ROWS = 10  # of a list (update_inlist.lua)
FOLDER = TEMPLATES / "sysbench"
MAIN = "main.lua"  # what runs a file of somebody's own, by own.lua
AGAIN = "again.lua"  # what runs a load on a server that ran before

_REQUIRED = re.compile(r"""\brequire\s*+\(?\s*+["'](\w+)["']""")
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


def workload_command(settings: Mapping[str, Any], context: Context) -> Command:
    access = lua_client.server_access(context)
    options = {**_run_options(settings, context), **_limits(settings), **_workload_options(settings, access)}
    duration = settings["duration"]
    if access.running and settings["lua"] == LOAD:  # its tables may exist already
        return lua_client.client_command(context, AGAIN, options, duration, {AGAIN: _text(AGAIN)})
    return lua_client.client_command(context, script(settings["lua"]), options, duration)


def _run_options(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    options: dict[str, Any] = {
        "rand-seed": lua_client.client_seed(context),
        "threads": settings["threads"],
        "report-interval": 1,
        "histogram": True,
        "percentile": 99,  # of each interval; those of the run are by the histogram
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
        events = settings["tables"] * settings["rows"] + settings["threads"]
        return {"time": 0, "events": min(lua_client.MOST, events)}
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


# Statements of a workload, read from its Lua

_SQL = re.compile(r"""(?:\{"(\w+)", )?(["'])((?:SELECT|UPDATE|DELETE|WITH)\b.*?)\2""", re.IGNORECASE | re.DOTALL)
_TRANSACTION = re.compile(r'require\("transaction"\)\((.*)\)')


def workload_statements(settings: Mapping[str, Any], files: Mapping[str, str]) -> list[str]:
    """Read statements from the Lua that the step runs, about its first table, with values for parameters."""
    if settings["lua"] == LOAD:
        return []
    text = files[PurePath(settings["lua"]).name if is_own(settings["lua"]) else script(settings["lua"])]
    transaction = _TRANSACTION.search(text)
    if transaction is None:
        return [_with_values(sql, settings) for *_, sql in _SQL.findall(text)]
    parts = re.findall(r'"(\w+)"', transaction[1])
    statements = (
        (part or ("points" if sql.startswith("SELECT") else "writes"), sql)
        for part, _, sql in _SQL.findall(files["transaction.lua"])
    )
    return [_with_values(sql, settings) for part, sql in statements if part in parts]


def _with_values(sql: str, settings: Mapping[str, Any]) -> str:
    column = "k" if settings["index"] == "si" else "id"
    marks = ", ".join("?" * (UPDATED_ROWS if settings["lua"] == "update_inlist" else settings["range"]))
    sql = re.sub(r"(?<=\w)%[dsu]", "1", sql.replace("%%", "%")).replace("(%s)", f"({marks})")
    for name in (column if settings["covered"] else f"{column}, c", column):
        sql = sql.replace("%s", name, 1)
    sql = re.sub(r"%[dsu]", "?", sql)
    return with_values(f"{sql}{marks})" if sql.endswith("(") else sql, settings["rows"] // 2 or 1, settings["range"])


def script(lua: str) -> str:
    return MAIN if is_own(lua) else f"{lua}.lua"


def is_own(lua: str) -> bool:
    return lua.endswith(".lua")


def is_taken(lua: str) -> bool:
    """Check whether a file that comes with the workloads has this name."""
    name = PurePath(lua).name
    return is_own(lua) and (name == MAIN or (FOLDER / name).exists())


def workload_files(lua: str, read_own: Callable[[str], str], arguments: Mapping[str, Any] = {}) -> Mapping[str, str]:
    """Give texts by name; `read_own` reads a file that the spec brings, which gets these arguments."""
    if not is_own(lua):
        return shipped_files(lua)
    name, text = PurePath(lua).name, read_own(lua)
    return _with_required({MAIN: f'require("own")("{name}")\n{_declared(arguments, text)}', name: text})


@cache
def shipped_files(lua: str) -> Mapping[str, str]:
    return _with_required({f"{lua}.lua": _text(f"{lua}.lua")})


def _declared(arguments: Mapping[str, Any], text: str) -> str:
    """Declare the options that the file does not: sysbench refuses one that no file declares."""
    lines = ["local options = sysbench.cmdline.options\n"]
    for argument, value in arguments.items():
        name = argument.replace("-", "_")
        if not re.search(rf"""\b{name}["']?\]?\s*=\s*\{{""", text):
            # a number or a boolean stays one by its default; JSON's are Lua's
            lines.append(f"options.{name} = options.{name} or {{'', {json.dumps(value)}}}\n")
    return "".join(lines) if len(lines) > 1 else ""


def _with_required(files: dict[str, str]) -> Mapping[str, str]:
    """Add the modules that files require, except those that sysbench brings, such as oltp_common."""
    unread = list(files.values())
    while unread:
        for module in _REQUIRED.findall(unread.pop()):
            name = f"{module}.lua"
            if name not in files and (FOLDER / name).exists():
                files[name] = _text(name)
                unread.append(files[name])
    return files


@cache
def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
