"""The command line of a step: sysbench with a thread for each client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.sysbench import server_options
from stepgrid.drivers.sysbench.client_files import REPORTER, SEARCH
from stepgrid.model.package_data import TEMPLATES

if TYPE_CHECKING:
    from stepgrid.model.command import Command
    from stepgrid.plugins.driver import Context
    from stepgrid.plugins.server import Access

CLIENT = "sysbench"
FOLDER = TEMPLATES / "linkbench"
MAIN = "linkbench.lua"
YEAR = 31_536_000  # its limit of seconds: none would be a warning
CLIENTS: Mapping[str, str] = {"load": "loaders", "request": "requesters"}  # action -> the setting; a check has one

_PASSED = ("link_types", "link_size", "node_size", "table_options")


def command(settings: Mapping[str, Any], context: Context) -> Command:
    from stepgrid.model.command import Command

    access = server_options.server(context)
    flags = {**server_options.options(access), **_general(settings, context), **_own(settings, access)}
    return Command(
        argv=(*context.programs[CLIENT], MAIN, *server_options.words(flags), "run"),
        env=SEARCH,
        duration=settings["duration"],
        files=server_options.password_file(access),
        secrets=(server_options.CONNECTION,),
    )


def clients(settings: Mapping[str, Any]) -> int:
    name = CLIENTS.get(settings["action"])
    return int(settings[name]) if name else 1


def _general(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    return {
        "rand-seed": server_options.seed(context),
        "threads": clients(settings) + REPORTER,
        "time": YEAR,
        "events": 0,
    }


def _own(settings: Mapping[str, Any], access: Access) -> dict[str, Any]:
    return {
        **{name: settings[name] for name in _PASSED if settings[name] not in (None, "")},
        "action": settings["action"],
        "clients": clients(settings),
        "ids": settings["ids"] or 0,
        "seconds": int(settings["duration"] or 0),
        **(_requests(settings) if settings["action"] == "request" else {}),
        "storage_engine": access.storage_engine if server_options.driver(access) == "mysql" else "",
        "anew": access.running and settings["action"] == "load",
    }


def _requests(settings: Mapping[str, Any]) -> dict[str, Any]:
    multiget, lists = settings["multiget"], settings["lists"]
    return {
        "mix": ",".join(f"{name}:{percent}" for name, percent in settings["mix"].items() if percent),
        **settings["popularity"],
        "multiget_probability": multiget["probability"],
        "multiget_most": multiget["most"],
        "list_limit": lists["limit"],
        "history_percent": lists["continued"],
    }
