"""Programs in Lua that sysbench runs: how they reach a server, and clients that report as drivers/client_report.py."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from stepgrid.model.plan import Command, Value
from stepgrid.package import TEMPLATES
from stepgrid.plugins.driver import PackageRunner, ParserMetrics
from stepgrid_databases.drivers import open_loop

if TYPE_CHECKING:
    from stepgrid.plugins.driver import Context, CountedWork
    from stepgrid.plugins.server import Access

CLIENT = "sysbench"
CONNECTION = "connection"  # a file with the password: the Lua of templates/ removes it by this name
SEARCH: Mapping[str, str] = {"LUA_PATH": "./?.lua;;"}  # a step runs in its own folder
MOST = 2**31 - 1  # sysbench's numbers
FLOOR = 1.0  # seconds that a step takes at least, for estimates
CHECK_SECONDS = 5.0  # likewise, of an action whose rows are not among its settings
REPORTER = 1  # thread of a client, beside those that send statements
OPEN_LOOP = "rated.lua"  # what runs a step with a rate
YEAR = 31_536_000  # a client's limit of seconds: none would be a warning

# The message of the workload. sysbench says more of the same before it, and cuts that off within a line.
_FAILURE = re.compile(r"FATAL: `\w+' function failed: (.+)$", re.MULTILINE)


class LuaClient(ParserMetrics, PackageRunner, ABC):
    """A kind whose client is templates/KIND/KIND.lua over templates/clients: a thread for each role, one that reports.

    A kind declares its threads, the options of its script, and how long it runs by the clock.
    """

    kind: str
    title: str  # in a sentence about its failure
    client = CLIENT
    runs_remotely = True
    module: str  # of the action that may have a rate
    rates: Sequence[str] = ()  # operations whose rate is that of a running step, by preference
    uncounted: Sequence[str] = ("check",)  # actions whose rows are not among their settings

    @abstractmethod
    def counted_work(self, settings: Mapping[str, Any]) -> CountedWork | None: ...

    @abstractmethod
    def threads(self, settings: Mapping[str, Any]) -> int: ...

    @abstractmethod
    def script_options(self, settings: Mapping[str, Any], access: Access) -> Mapping[str, Any]: ...

    def estimate(self, settings: Mapping[str, Any]) -> float:
        if settings["action"] in self.uncounted:
            return CHECK_SECONDS
        work = self.counted_work(settings)
        return max(FLOOR, work.seconds) if work else float(settings["duration"])

    def duration(self, settings: Mapping[str, Any]) -> float | None:
        duration: float | None = settings["duration"]
        return duration

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["action"])

    def targets(self, settings: Mapping[str, Any]) -> Mapping[str, float]:
        return open_loop.targets(settings)

    def files(self, settings: Mapping[str, Any], read_own: Callable[[str], str]) -> Mapping[str, str]:
        files = client_files(self.kind)
        if not is_open_loop(settings):
            return files
        main = f'require("open_loop")("{self.kind}", "{self.module}")\n'
        return {**files, **open_loop_files(), OPEN_LOOP: main, **open_loop.files(settings, read_own)}

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
        access = server_access(context)
        threads = self.threads(settings) + REPORTER
        limits = {"rand-seed": client_seed(context), "threads": threads, "time": YEAR, "events": 0}
        options = {**limits, **self.script_options(settings, access)}
        if not is_open_loop(settings):
            return client_command(context, f"{self.kind}.lua", options, self.duration(settings))
        options |= open_loop_options(settings, int(options["seconds"]))
        return client_command(context, OPEN_LOOP, options, self.duration(settings))

    def complaint(self, folder: Path) -> str | None:
        from stepgrid_databases.drivers.sysbench import output

        text = output.text_of(folder)
        message = _FAILURE.search(text)
        failure = message[1] if message else output.failure(text)
        return f"{self.title} failed: {failure}" if failure else None

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        from stepgrid_databases.drivers import client_report

        return client_report.live(folder, *self.rates)


class MixClient(LuaClient):
    """A kind with three actions: it loads tables, sends them a mix of operations by the clock, and checks them."""

    clients: Mapping[str, str]  # action -> the setting of its number of clients; a check has one
    passed: Sequence[str]  # settings that the script has by the same names

    def workloads(self, settings: Mapping[str, Any]) -> Sequence[str]:
        mix = {} if settings["action"] in ("load", "check") else settings["mix"]
        return [settings["action"], *(name for name, percent in mix.items() if percent)]

    def threads(self, settings: Mapping[str, Any]) -> int:
        name = self.clients.get(settings["action"])
        return int(settings[name]) if name else 1

    def script_options(self, settings: Mapping[str, Any], access: Access) -> Mapping[str, Any]:
        return {
            **{name: settings[name] for name in self.passed if settings[name] not in (None, "")},
            "action": settings["action"],
            "clients": self.threads(settings),
            "seconds": int(settings["duration"] or 0),
            **(table_engine(access) or {"storage-engine": ""}),
            "anew": access.running and settings["action"] == "load",
        }


def mix_option(settings: Mapping[str, Any]) -> dict[str, str]:
    return {"mix": ",".join(f"{name}:{percent}" for name, percent in settings["mix"].items() if percent)}


def is_open_loop(settings: Mapping[str, Any]) -> bool:
    return open_loop.has_rate(settings) or settings.get("arrivals") is not None


def open_loop_options(settings: Mapping[str, Any], seconds: int) -> dict[str, Any]:
    """Give the clients time for what is late, where the clock ends a step."""
    grace = open_loop.grace(seconds) if seconds and open_loop.has_rate(settings) else 0
    return {
        "seconds": seconds + grace,
        "schedule_grace": grace,
        "schedule_seconds": seconds if open_loop.has_rate(settings) else 0,
        "arrivals": settings.get("arrivals") or "even",
        **({"points": f"0:{settings['rate']}"} if isinstance(settings.get("rate"), int | float) else {}),
    }


@cache
def open_loop_files() -> Mapping[str, str]:
    return MappingProxyType(
        {path.name: path.read_text(encoding="utf-8") for path in sorted((TEMPLATES / "open_loop").glob("*.lua"))}
    )


@cache
def client_files(kind: str) -> Mapping[str, str]:
    """Give the Lua files of a client by name: its own, and those that clients share."""
    folders = (TEMPLATES / kind, TEMPLATES / "clients")
    paths = [path for folder in folders for path in sorted(folder.glob("*.lua"))]
    paths.append(TEMPLATES / "sysbench" / "clock.lua")
    return MappingProxyType({path.name: path.read_text(encoding="utf-8") for path in paths})


def client_command(
    context: Context,
    script: str,
    options: Mapping[str, Value],
    duration: float | None,
    files: Mapping[str, str] = MappingProxyType({}),
) -> Command:
    """Make a command with typed arguments, never a shell; the password is in a file that the workload removes."""
    access = server_access(context)
    argv = (*context.programs[CLIENT], script, *flags({**connection_options(access), **options}), "run")
    password = {CONNECTION: f"{server_driver(access)}-password={access.password}\n"}
    return Command(argv, SEARCH, duration, {**password, **files}, secrets=(CONNECTION,))


def server_access(context: Context) -> Access:
    if context.server is None:
        raise ValueError("it needs a server, and the engine of this build is none")
    return context.server


def server_driver(access: Access) -> str:
    return "pgsql" if access.engine == "postgres" else "mysql"


def connection_options(access: Access) -> dict[str, Any]:
    name = server_driver(access)
    if name == "pgsql":
        address: dict[str, Any] = {"pgsql-host": access.host or access.sockets, "pgsql-port": access.port}
    elif access.host:
        address = {"mysql-host": access.host, "mysql-port": access.port}
    else:
        address = {"mysql-socket": access.socket}
    account = {f"{name}-user": access.user, f"{name}-db": access.database}
    return {"db-driver": name, "config-file": CONNECTION, **address, **account}


def table_engine(access: Access) -> dict[str, str]:
    """Give the option of the tables' storage engine; PostgreSQL has one for the whole server."""
    return {"storage-engine": access.storage_engine} if server_driver(access) == "mysql" else {}


def client_seed(context: Context) -> int:
    return context.seed % MOST + 1  # 0 would be the time


def flags(options: Mapping[str, Value]) -> list[str]:
    switches = {True: "on", False: "off"}
    return [
        f"--{name.replace('_', '-')}={switches[value] if isinstance(value, bool) else value}"
        for name, value in options.items()
    ]
