"""The running half of a server engine: how one is set up, started, reached, read and ended; and its statistics."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from stepgrid.model.plan import Command, Value
from stepgrid.plugins.engine import Identity, OptionInfo

if TYPE_CHECKING:
    import signal
    from contextlib import AbstractContextManager

    from jinja2 import Environment

LOCAL = "127.0.0.1"  # where a build's `service` listens


class Access(NamedTuple):
    """Access of a client to a server: a private socket and a password of its own.

    Only a server that already runs, or has clients on another machine, is reached by the network.
    """

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
    listen: str = ""  # the address at which it listens besides, for clients of one other machine
    client: str = ""  # the address that these come from

    def placeholders(self) -> Mapping[str, str]:
        """Values that the words of a command may name; the password has no place in a command line."""
        if not self.user:  # a build's `service`, which is told where to listen
            return {"host": LOCAL, **{name: str(getattr(self, name)) for name in ("port", "socket", "sockets")}}
        names = ("host", "port") if self.host else ("socket", "sockets", "port")
        return {name: str(getattr(self, name)) for name in (*names, "user", "database")}


class ServerHome(NamedTuple):
    """Files and access of one server."""

    programs: Mapping[str, Sequence[str]]  # program name -> argv prefix, from the build record
    version: str  # of the binary
    data: Path  # the database
    folder: Path  # of this server: configuration and logs, kept with the attempt
    access: Access
    scratch: Path = Path("/tmp")  # beside the database: for what does not outlive the server
    build_folders: Mapping[str, Path] = MappingProxyType({})  # of the build's own files, from its record's facts
    account: str = ""  # who its runner is to the server; empty: by the name that the runner has


class IdleReading(NamedTuple):
    """A thing that must be idle before an engine is quiet, as it is now."""

    what: str  # "pending compactions", "dirty pages"
    value: float
    least: float  # idle at or below this
    unit: str = ""

    @property
    def idle(self) -> bool:
        return self.value <= self.least


class Effective(NamedTuple):
    """Settings that a server really runs with."""

    values: Mapping[str, str]  # all of them
    differs: Mapping[str, str]  # of those that were asked for: name -> a sentence about what became of it


class ServerDescription(NamedTuple):
    """A server that already runs, as it describes itself."""

    identity: Identity
    options: Mapping[str, OptionInfo]  # its settings; what each has now stands for a default


class ServerStart(NamedTuple):
    """Start of a server, and its process, as it says."""

    seconds: float  # that it has been up
    pid: int | None = None  # its own or that of a child of it; on whatever machine it is
    data: str | None = None  # where its files are there


NO_FIGURES: Mapping[str, float] = MappingProxyType({})


class ObjectSize(NamedTuple):
    """A row of the table `sizes`: a table, or one of its indexes. What an engine does not know is None."""

    schema_name: str
    table_name: str
    index_name: str | None = None  # None: of the table
    family: str | None = None  # column family
    rows: float | None = None
    bytes: float | None = None
    dead_rows: float | None = None
    tombstones: float | None = None
    bloat_bytes: float | None = None


class ServerStatistics(NamedTuple):
    """Figures of a server beside a step: what it has counted, its state, how large its tables are."""

    counters: Mapping[str, float] = NO_FIGURES  # what only grows: the difference says something
    gauges: Mapping[str, float] = NO_FIGURES  # what is as it is at the moment
    sizes: Mapping[str, float] = NO_FIGURES  # by metric: how large things are at the moment
    text: str = ""  # for people: kept as it is
    garbage: Mapping[str, float] = NO_FIGURES  # by metric: what the engine has yet to clean up
    work: Mapping[str, float] = NO_FIGURES  # by metric, and only grows: what it came to over a step is that metric
    objects: Sequence[ObjectSize] = ()
    levels: Sequence[Mapping[str, float | str]] | None = None  # of LSM trees, by columns of the table `levels`
    state: Mapping[str, float] = NO_FIGURES  # by the names of model.step_start: of what no metric says


class StatisticsReader(NamedTuple):
    name: str  # in a warning, and of the file of its text
    read: Callable[[], ServerStatistics]  # LookupError: the server has no such view, which is said once
    after_only: bool = False  # it says what a step has left, and nothing before it


# What leaves the least trace in the others' counters comes last: after a step they are read in the opposite order.
StatisticsReaders: TypeAlias = Sequence[StatisticsReader]


def split_gauges(values: Mapping[str, float], gauges: Sequence[str]) -> ServerStatistics:
    """Tell gauges, by patterns of their names, from counters."""
    current = {name: value for name, value in values.items() if any(fnmatchcase(name, pattern) for pattern in gauges)}
    return ServerStatistics({name: value for name, value in values.items() if name not in current}, current)


def json_lines(rows: Iterable[Mapping[str, object]]) -> str:
    """Write rows as text for people, one a line."""
    import json

    return "".join(f"{json.dumps(row, default=str)}\n" for row in rows)


ServerRow: TypeAlias = Mapping[str, Any]  # column -> value, as the library of its client reads it


class Connection(Protocol):
    """A connection to a server: rows by column name; none of a statement that gives none.

    A server is ready once it has answered `select 1`.
    """

    def query(self, sql: str) -> list[ServerRow]: ...

    def close(self) -> None: ...


def templates(engine: str) -> Environment:
    """Open an engine's configuration files."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from stepgrid.package import TEMPLATES

    loader = FileSystemLoader(TEMPLATES / engine)
    return Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)


def for_each(tables: Sequence[str], connect: Callable[[], Connection], statement: str) -> None:
    """Run a statement with each table as its `{}`, as many at a time as there are processors."""
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

    def configuration(self, home: ServerHome, options: Mapping[str, Value]) -> Mapping[str, str]:
        """Name of a file in the home's folder -> its text, rendered from templates/."""
        ...

    def initialize(self, home: ServerHome) -> Sequence[Command]:
        """Make an empty data directory; run one after the other, once for a database."""
        ...

    def prepare(self, home: ServerHome) -> Sequence[Command]:
        """Prepare each start, also on a restored database: its password is another one by now."""
        ...

    def serve(self, home: ServerHome) -> Command:
        """Run the server in the foreground."""
        ...

    def connect(self, access: Access) -> Connection:
        """Connect, without a long wait; OSError or ConnectionError while it is not ready."""
        ...

    def effective(self, connection: Connection, options: Mapping[str, Value]) -> Effective: ...

    def counters(self, connection: Connection) -> Mapping[str, float]:
        """Read what the server has counted so far, by its own names."""
        ...

    def looks(self, connection: Connection) -> StatisticsReaders:
        """List the readers of its statistics beside a step, without those that this release lacks."""
        ...

    def settle(self, connection: Connection, access: Access) -> AbstractContextManager[None]:
        """Request what it would do some day, a flush, a checkpoint; put back what that needs at the end."""
        ...

    def analyze(self, connection: Connection, access: Access) -> None:
        """Bring the optimizer's statistics up to date; vacuum if there is something to vacuum."""
        ...

    def busy(self, connection: Connection, access: Access) -> Sequence[IdleReading]:
        """Read what must be idle."""
        ...


@runtime_checkable
class LoadedTables(Protocol):
    """A server engine that tells whether a load has left any table, in whichever database of the server."""

    def has_tables(self, access: Access) -> bool: ...


@runtime_checkable
class ClientEnvironment(Protocol):
    """A server engine whose own clients find a server by variables of their environment."""

    secret_variables: tuple[str, ...]  # of those: what is written down has them without a value

    def client_environment(self, access: Access) -> Mapping[str, str]: ...


@runtime_checkable
class RoleMaker(Protocol):
    """A server engine whose role and database stepgrid's own connection makes."""

    def make_role(self, home: ServerHome) -> Command:
        """Make both by the engine's programs alone, in a new database."""
        ...


@runtime_checkable
class DelayedCounters(Protocol):
    """A server engine whose sessions report what they did some time after they did it."""

    def report_counters(self, connection: Connection) -> None:
        """Return when the counters have what this session did until now."""
        ...


@runtime_checkable
class RemoteClient(Protocol):
    """A kind whose programs are clients of a server alone: they need no file here but their own."""

    runs_remotely: bool


@runtime_checkable
class NetworkServer(Protocol):
    """A server engine that listens at `Access.listen` and `port` for one user at `Access.client`."""

    tls_counter: str  # of connections with TLS, where clients decide; stepgrid's own have none then

    def network_environment(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        """Return variables by which clients ask for TLS, if the server has it; `settings`: of the running server."""
        ...


@runtime_checkable
class QuickRestart(Protocol):
    """A server engine that does less when it starts again on a database that knows its client already."""

    def serve_again(self, home: ServerHome) -> Command: ...


@runtime_checkable
class SelfWarming(Protocol):
    """A server engine that lists the pages in its cache as it ends, and may load them when it starts."""

    loading_options: Mapping[str, Value]  # under which it loads them; those of a spec win

    def page_list(self, storage_engine: str, options: Mapping[str, Value]) -> str:
        """Name the list's file in the database; empty where there is none."""
        ...

    def loading_end(self, connection: Connection, log: str) -> str:
        """Quote what it says once all is loaded, empty until then; LookupError: it never will be."""
        ...


@runtime_checkable
class RevisedStorage(Protocol):
    """A server engine whose configuration was changed here so that what is measured differs."""

    storage_revisions: Mapping[str, int]  # by storage engine: identity


@runtime_checkable
class ServerTimeouts(Protocol):
    """A server whose spec says how long it may take to be ready and to end; one that must be killed has lost data."""

    ready_within: float  # seconds
    stop_within: float

    def ending(self, access: Access) -> Command | None:
        """Ask it to end, in place of the signal."""
        ...


@runtime_checkable
class StatefulEngine(Protocol):
    """A server engine with states in which it holds its clients up, to catch up with its own work."""

    def connect(self, access: Access) -> Connection: ...

    def states(self, connection: Connection) -> Sequence[IdleReading]:
        """Read what is normal at or below its least value; `what` is a kind of event."""
        ...


@runtime_checkable
class SessionWaits(Protocol):
    """A server engine whose sessions say what they wait for at the moment."""

    def connect_aside(self, access: Access) -> Connection:
        """Connect where the session is in no counter of the benchmark's database."""
        ...

    def session_waits(self, connection: Connection, access: Access) -> Mapping[str, int]:
        """Count the clients' sessions at work by the event that they wait for; "": for none."""
        ...


@runtime_checkable
class ExternalServerEngine(Protocol):
    """A server engine of which one that already runs can be measured."""

    port: int

    def socket_of(self, path: Path, port: int) -> tuple[Path, int]:
        """Find the socket that a site file means, and the port."""
        ...

    def connect(self, access: Access) -> Connection: ...

    def described(self, connection: Connection) -> ServerDescription:
        """Describe it; IdentityError if it is another engine's."""
        ...

    def since(self, connection: Connection) -> ServerStart: ...

    def compared(self, connection: Connection, options: Mapping[str, Value]) -> Effective:
        """Compare requested settings by value: it runs with whatever somebody gave it."""
        ...


# Counters by what a spec calls them: one of the server's own, several by pattern, or a table that holds some

_TABLE = re.compile(r"\w+(\.\w+)*")
_VIEWS = "information_schema."


class Snapshot(NamedTuple):
    """Counters as they are at one moment."""

    values: Mapping[str, float]
    missing: Sequence[str]  # of the names in the request: this server has nothing of that name


def snapshot_counters(engine: ServerEngine, connection: Connection, names: Iterable[str]) -> Snapshot:
    if isinstance(engine, DelayedCounters):
        engine.report_counters(connection)
    counters, values, missing = engine.counters(connection), dict[str, float](), []
    for name in names:
        matches = _match(counters, name) or _read_view(engine, connection, name)
        if matches is None and _TABLE.fullmatch(name):
            try:
                matches = row_counters(connection.query(f"select * from {name}"))
            except Exception:  # of each client its own
                missing.append(name)
        values |= matches or {}
    return Snapshot(values, missing)


def counter_differences(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Subtract counters that exist both times. A server says -1 of what it does not count: that is missing."""
    grown = {name: after[name] - value for name, value in before.items() if name in after and value >= 0}
    return {name: value for name, value in grown.items() if math.isfinite(value)}


def row_counters(rows: Iterable[ServerRow]) -> dict[str, float]:
    """Read rows as counters; add up several of one name."""
    counters: dict[str, float] = {}
    for row in rows:
        for name, value in _named_values(row):
            counters[name] = counters.get(name, 0.0) + value
    return counters


def _match(values: Mapping[str, float], pattern: str) -> dict[str, float]:
    return {name: value for name, value in values.items() if name == pattern or fnmatchcase(name, pattern)}


def _read_view(engine: ServerEngine, connection: Connection, name: str) -> Mapping[str, float] | None:
    """Read a view as the engine itself does for the table `counters`: the whole view, or names of that table."""
    if "." not in name:
        return None
    is_whole = name.lower().startswith(_VIEWS)
    view = name.lower().removeprefix(_VIEWS) if is_whole else name.partition(".")[0]
    reader = next((reader for reader in engine.looks(connection) if reader.name == view), None)
    if reader is None:
        return None
    counters = reader.read().counters
    if is_whole:
        return {counter.removeprefix(f"{view}."): value for counter, value in counters.items()}
    return _match(counters, name) or None


def _named_values(row: ServerRow) -> Iterator[tuple[str, float]]:
    """Name the numbers of a row by its texts; where there are several, by their columns, too."""
    from decimal import Decimal

    numbers = {column: value for column, value in row.items() if isinstance(value, int | float | Decimal)}
    texts = [str(value) for column, value in row.items() if column not in numbers and isinstance(value, str)]
    if not numbers and len(texts) == 2:  # global_status has its values as text
        with suppress(ValueError):
            yield texts[0], float(texts[1])
    for column, value in numbers.items():
        yield ".".join([*texts, *([column] if len(numbers) > 1 or not texts else [])]), float(value)
