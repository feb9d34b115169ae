"""The running half of a server engine: how one is set up, started, reached, looked at and ended."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from stepgrid.model.command import Command
from stepgrid.model.package_data import TEMPLATES
from stepgrid.plugins.engine import Identity, OptionInfo
from stepgrid.plugins.server_statistics import Looks

if TYPE_CHECKING:
    from jinja2 import Environment

LOCAL = "127.0.0.1"  # where a build's `service` listens


class Access(NamedTuple):
    """How a client reaches a server: a private socket and a password of its own. Only one that already runs may be
    reached by the network."""

    engine: str
    sockets: Path  # the folder that the socket is in
    socket: Path  # the socket itself
    port: int  # a server that does not listen still has a number in its socket's name
    user: str
    password: str
    database: str
    storage_engine: str
    host: str = ""  # of one that is reached by it; then there is no socket
    running: bool = False  # it ran before: nothing beyond the database is set, changed or ended

    def placeholders(self) -> Mapping[str, str]:
        """What the words of a command may name; the password has no place in a command line."""
        if not self.user:  # a build's `service`, which is told where to listen
            return {"host": LOCAL, **{name: str(getattr(self, name)) for name in ("port", "socket", "sockets")}}
        names = ("host", "port") if self.host else ("socket", "sockets", "port")
        return {name: str(getattr(self, name)) for name in (*names, "user", "database")}


class ServerHome(NamedTuple):
    """Where one server lives."""

    programs: Mapping[str, Sequence[str]]  # program name -> argv prefix, from the build record
    version: str  # of the binary
    data: Path  # the database
    folder: Path  # of this server: configuration and logs, kept with the attempt
    access: Access
    scratch: Path = Path("/tmp")  # beside the database: for what does not outlive the server
    places: Mapping[str, Path] = MappingProxyType({})  # where the build's own files are, from the build record's facts
    account: str = ""  # who its runner is to the server; empty: by the name that the runner has


class IdleReading(NamedTuple):
    """One thing that must be idle before an engine is quiet, as it is now."""

    what: str  # "pending compactions", "dirty pages"
    value: float
    least: float  # idle at or below this
    unit: str = ""

    @property
    def idle(self) -> bool:
        return self.value <= self.least


class Effective(NamedTuple):
    """The settings that a server really runs with."""

    values: Mapping[str, str]  # all of them
    differs: Mapping[str, str]  # of those that were asked for: name -> a sentence about what became of it


class ServerDescription(NamedTuple):
    """What a server that already runs says that it is."""

    identity: Identity
    options: Mapping[str, OptionInfo]  # its settings; what each has now stands for a default


class ServerStart(NamedTuple):
    """Since when a server runs, and as which process, as it says."""

    seconds: float  # that it has been up
    pid: int | None = None  # its own or that of a child of it; on whatever machine it is
    data: str | None = None  # where its files are there


class Connection(Protocol):
    """What is asked of a server: rows by column name; none of a statement that gives none.

    A server is ready once it has answered `select 1`.
    """

    def query(self, sql: str) -> list[Mapping[str, Any]]: ...

    def close(self) -> None: ...


def templates(engine: str) -> Environment:
    """Of an engine's configuration files."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(TEMPLATES / engine)
    return Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)


def for_each(tables: Sequence[str], connect: Callable[[], Connection], statement: str) -> None:
    """A statement with each of some tables as its `{}`, as many at a time as there are processors."""
    import os
    from concurrent.futures import ThreadPoolExecutor  # brings logging along

    def run(table: str) -> None:
        connection = connect()
        try:
            connection.query(statement.format(table))
        finally:
            connection.close()

    with ThreadPoolExecutor(max(1, min(len(tables), os.cpu_count() or 1))) as pool:
        list(pool.map(run, tables))


@runtime_checkable
class ServerEngine(Protocol):
    stop: signal.Signals  # what ends it gracefully
    socket: str  # the name of its socket's file
    port: int
    user: str  # that clients are
    database: str  # that they use; it is there when the server is ready

    def configuration(self, home: ServerHome, options: Mapping[str, Any]) -> Mapping[str, str]:
        """Name of a file in the home's folder -> its text, rendered from templates/."""
        ...

    def initialize(self, home: ServerHome) -> Sequence[Command]:
        """What makes an empty data directory; run one after the other, once for a database."""
        ...

    def prepare(self, home: ServerHome) -> Sequence[Command]:
        """What is run before each start, also on a restored database: its password is another one by now."""
        ...

    def serve(self, home: ServerHome) -> Command:
        """The server, in the foreground."""
        ...

    def connect(self, access: Access) -> Connection:
        """OSError or ConnectionError while it is not ready; it does not wait for long."""
        ...

    def effective(self, connection: Connection, asked: Mapping[str, Any]) -> Effective: ...

    def counters(self, connection: Connection) -> Mapping[str, float]:
        """What the server has counted so far, by its own names."""
        ...

    def looks(self, connection: Connection) -> Looks:
        """What it can say of itself beside a step; what this release lacks is not among them."""
        ...

    def settle(self, connection: Connection, access: Access) -> AbstractContextManager[None]:
        """Asks for what it would do some day, a flush, a checkpoint; what that needs is put back when it is left."""
        ...

    def analyze(self, connection: Connection, access: Access) -> None:
        """Brings the optimizer's statistics up to date; vacuums where there is something to vacuum."""
        ...

    def busy(self, connection: Connection, access: Access) -> Sequence[IdleReading]:
        """What is looked at until all of it is idle."""
        ...


@runtime_checkable
class ClientEnvironment(Protocol):
    """A server engine whose own clients find a server by variables of their environment."""

    secret_variables: tuple[str, ...]  # of those: what is written down has them without a value

    def client_environment(self, access: Access) -> Mapping[str, str]: ...


@runtime_checkable
class DelayedCounters(Protocol):
    """A server engine whose sessions report what they did some time after they did it."""

    def report_counters(self, connection: Connection) -> None:
        """What this session did until now is in the counters when it returns."""
        ...


@runtime_checkable
class ServerTimeouts(Protocol):
    """A server whose spec says how long it may take to be ready and to end; one that must be killed has lost data."""

    ready_within: float  # seconds
    stop_within: float

    def ending(self, access: Access) -> Command | None:
        """What asks it to end, in place of the signal."""
        ...


@runtime_checkable
class ExternalServerEngine(Protocol):
    """A server engine of which one that already runs can be measured."""

    port: int

    def socket_of(self, given: Path, port: int) -> tuple[Path, int]:
        """The socket that a site file means, and the port."""
        ...

    def connect(self, access: Access) -> Connection: ...

    def described(self, connection: Connection) -> ServerDescription:
        """IdentityError where it is another engine's."""
        ...

    def since(self, connection: Connection) -> ServerStart: ...

    def compared(self, connection: Connection, asked: Mapping[str, Any]) -> Effective:
        """Its settings are whatever somebody gave it: those asked for are held against them by value."""
        ...
