"""Builds that are a server which already runs: its entry in the site file, a connection to it, its description."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Material, Order
from stepgrid.language.problems import nearest
from stepgrid.language.site import DEFAULT
from stepgrid.model.plan import SERVER, Json, PlannedBuild, runs_already
from stepgrid.model.site import Site, SiteServer
from stepgrid.plugins import registry
from stepgrid.plugins.engine import IdentityError
from stepgrid.plugins.server import Access, Connection, ExternalServerEngine, ServerDescription

READY_SECONDS = 10.0  # a server that is started anew needs some
PAUSE = 0.2
_LOCAL = ("localhost", "127.0.0.1")  # by the first, MySQL's library means a socket of its own choice


class NoEntryError(Exception):
    """A sentence that says what the site file lacks."""


class UnansweredError(Exception):
    """A sentence that says why there is no connection; `reason`: what the client was told."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(f"{message}: {reason}")
        self.reason = reason


def missing_entries(builds: Iterable[PlannedBuild], site: Site) -> list[str]:
    """Return a sentence for each server that the site file does not name."""
    messages: list[str] = []
    for build in builds:
        try:
            site_entry(build, site)
        except NoEntryError as error:
            messages.append(str(error))
    return messages


def site_entry(build: PlannedBuild, site: Site) -> SiteServer | None:
    """Return the server's entry; None for a build that is made on this machine."""
    if not runs_already(build.source):
        return None
    name = str(build.source[SERVER])
    if name in site.servers:
        return site.servers[name]
    if site.path is None:
        wanted = f"`servers: {{{name}: …}}` in {DEFAULT}"
        problem = f"there is no site file that says how the server `{name}` is reached: {wanted}"
    else:
        names = nearest(name, site.servers) if site.servers else "it names none"
        problem = f"the site file {site.path} has no `{name}` under `servers`: {names}"
    raise NoEntryError(f"{f'{build.where}: ' if build.where else ''}build {build.name}: {problem}")


def access(build: PlannedBuild, entry: SiteServer, storage: str = "") -> Access:
    engine = external_engine(build.engine)
    socket, port = engine.socket_of(Path(entry.socket or "/nowhere"), entry.port or engine.port)
    return Access(
        engine=build.engine,
        sockets=socket.parent,
        socket=socket,
        port=port,
        user=entry.user,
        password=entry.secret(),
        database=entry.database,
        storage_engine=storage or registry.engine(build.engine).default_storage_engine,
        host=_LOCAL[1] if entry.host == _LOCAL[0] else entry.host or "",
        running=True,
    )


def external_engine(name: str) -> ExternalServerEngine:
    engine = registry.engine(name)
    if not isinstance(engine, ExternalServerEngine):
        raise LookupError(f"this version measures no server of {name} that already runs")
    return engine


def connect(engine: ExternalServerEngine, access: Access, title: str, seconds: float | None = None) -> Connection:
    """Connect to a server that answers at once or soon; `title` names it in an error."""
    limit = float(os.environ.get("STEPGRID_READY") or READY_SECONDS) if seconds is None else seconds
    end = time.monotonic() + limit
    while True:
        try:
            connection = engine.connect(access)
            connection.query("select 1")
            return connection
        except OSError as error:
            if time.monotonic() >= end:
                raise UnansweredError(f"the server {title} cannot be reached", client_message(error)) from None
        except Exception as error:  # the client's own classes: it runs, and refuses
            raise UnansweredError(f"the server {title} does not let us in", client_message(error)) from None
        time.sleep(PAUSE)


def client_message(error: Exception) -> str:
    """Return the server's words, before which the clients' libraries put a number."""
    words = [str(word) for word in error.args if isinstance(word, str)]
    return " ".join((words[-1] if words else str(error) or type(error).__name__).split())


class RunningServer:
    """The source of a server that already runs: it is asked what it is, and nothing is fetched or built."""

    route = SERVER

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"server {source[self.route]}"

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        name = str(source[self.route])
        unknown = dict.fromkeys(("compiler", "optimisation", "march"), "unknown")
        return Material(
            # with its name: two servers of unknown origin never compare without a caveat
            quality={"route": self.route, "server": name, **unknown},
            described=_describe_server(name, order),
            advice="declare the version that it says",
        )


def _describe_server(name: str, order: Order) -> ServerDescription:
    try:
        entry = site_entry(order.build, order.site)
        assert entry is not None
        engine = external_engine(order.build.engine)
        with closing(connect(engine, access(order.build, entry), f"`{name}` ({entry.address})")) as connection:
            return engine.described(connection)
    except (NoEntryError, UnansweredError) as error:
        raise BuildError(str(error)) from None
    except IdentityError as error:
        raise BuildError(f"the server `{name}` is not the build's: {error}") from None
    except OSError as error:
        raise BuildError(f"the password of the server `{name}` cannot be read: {error}") from None
