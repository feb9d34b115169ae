"""A build that is a server which already runs: its entry in the site file, and how it is reached by that."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stepgrid.language.builds.sources import SERVER, runs_already
from stepgrid.language.problems.problem import nearest
from stepgrid.language.site.site_file import DEFAULT, Site, SiteServer
from stepgrid.model.plan import PlannedBuild
from stepgrid.plugins import engines
from stepgrid.plugins.server import Access, Answering

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
    place, port = _socket(socket, said.port or engine.port) if build.engine == "postgres" else (socket, said.port)
    return Access(
        engine=build.engine,
        sockets=place.parent,
        socket=place,
        port=port or engine.port,
        user=said.user,
        password=said.secret(),
        database=said.database,
        storage_engine=storage or engines.engine(build.engine).default_storage_engine,
        host=_LOCAL[1] if said.host == _LOCAL[0] else said.host or "",
        running=True,
    )


def answering(name: str) -> Answering:
    found = engines.engine(name)
    if not isinstance(found, Answering):
        raise LookupError(f"this version measures no server of {name} that already runs")
    return found


def _socket(given: Path, port: int) -> tuple[Path, int]:
    """Of PostgreSQL the folder that it is in, or the socket itself, whose name ends in the port."""
    number = given.name.removeprefix(".s.PGSQL.")
    if number != given.name and number.isdecimal():
        return given, int(number)
    return given / f".s.PGSQL.{port}", port
