"""A build that is a server which already runs: its entry in the site file, and how it is reached by that."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from stepgrid.language.problems import nearest
from stepgrid.language.site import DEFAULT
from stepgrid.model.plan import SERVER, PlannedBuild, runs_already
from stepgrid.model.site import Site, SiteServer
from stepgrid.plugins import registry
from stepgrid.plugins.server import Access, Connection, ExternalServerEngine

_LOCAL = ("localhost", "127.0.0.1")  # by the first, MySQL's library means a socket of its own choice


class NoEntryError(Exception):
    """What the site file lacks, as a sentence."""


def lacking(builds: Iterable[PlannedBuild], site: Site) -> list[str]:
    """A sentence for each server that the site file does not name."""
    found: list[str] = []
    for build in builds:
        try:
            of(build, site)
        except NoEntryError as why:
            found.append(str(why))
    return found


def of(build: PlannedBuild, site: Site) -> SiteServer | None:
    """None of a build that is made here."""
    if not runs_already(build.source):
        return None
    name = str(build.source[SERVER])
    if name in site.servers:
        return site.servers[name]
    raise NoEntryError(f"{f'{build.where}: ' if build.where else ''}build {build.name}: {_lacks(name, site)}")


def _lacks(name: str, site: Site) -> str:
    if site.path is None:
        wanted = f"`servers: {{{name}: …}}` in {DEFAULT}"
        return f"there is no site file that says how the server `{name}` is reached: {wanted}"
    known = nearest(name, site.servers) if site.servers else "it names none"
    return f"the site file {site.path} has no `{name}` under `servers`: {known}"


def access(build: PlannedBuild, said: SiteServer, storage: str = "") -> Access:
    engine = answering(build.engine)
    socket = Path(said.socket or "/nowhere")
    place, port = engine.socket_of(socket, said.port or engine.port)
    return Access(
        engine=build.engine,
        sockets=place.parent,
        socket=place,
        port=port,
        user=said.user,
        password=said.secret(),
        database=said.database,
        storage_engine=storage or registry.engine(build.engine).default_storage_engine,
        host=_LOCAL[1] if said.host == _LOCAL[0] else said.host or "",
        running=True,
    )


def answering(name: str) -> ExternalServerEngine:
    found = registry.engine(name)
    if not isinstance(found, ExternalServerEngine):
        raise LookupError(f"this version measures no server of {name} that already runs")
    return found


# A connection to a server that already runs: it answers at once, or soon, or it is not there.

ALLOWED = 10.0  # seconds: one that is started anew needs some
PAUSE = 0.2


class UnansweredError(Exception):
    """Why there is none, as a sentence; `said`: what its client was told."""

    def __init__(self, message: str, said: str) -> None:
        super().__init__(f"{message}: {said}")
        self.said = said


def connected(engine: ExternalServerEngine, access: Access, shown: str, seconds: float | None = None) -> Connection:
    """`shown`: the server, for a sentence."""
    allowed = float(os.environ.get("STEPGRID_READY") or ALLOWED) if seconds is None else seconds
    end = time.monotonic() + allowed
    while True:
        try:
            connection = engine.connect(access)
            connection.query("select 1")
            return connection
        except OSError as error:
            if time.monotonic() >= end:
                raise UnansweredError(f"the server {shown} cannot be reached", told(error)) from None
        except Exception as error:  # the client's own classes: it runs, and refuses
            raise UnansweredError(f"the server {shown} does not let us in", told(error)) from None
        time.sleep(PAUSE)


def told(error: Exception) -> str:
    """The clients' libraries put a number before the server's own words."""
    words = [str(word) for word in error.args if isinstance(word, str)]
    return " ".join((words[-1] if words else str(error) or type(error).__name__).split())
