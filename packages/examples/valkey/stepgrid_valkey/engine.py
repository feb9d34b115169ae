"""Valkey: how its server is set up, started, asked and ended."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from stepgrid.model.plan import Command, Value
from stepgrid.plugins.engine import Built, EngineBase, Identity, IdentityError, OptionInfo, Release, Run, last_lines
from stepgrid.plugins.server import Access, Connection, Effective, IdleReading, ServerHome, StatisticsReaders
from stepgrid_valkey import configuration, statistics
from stepgrid_valkey.connection import ValkeyConnection

_SAID = re.compile(r"^Valkey server v=(\S+) .*malloc=(\S+)", re.MULTILINE)
_OWN = ("port", "unixsocket", "unixsocketperm", "dir", "daemonize", "shutdown-on-sigterm", "bind", "supervised")


class Valkey(EngineBase):
    name = "valkey"
    programs: tuple[str, ...] = ("valkey-server", "valkey-benchmark", "valkey-cli")
    kinds: tuple[str, ...] = ("valkey_benchmark", "quiesce", "command")
    server = True
    storage_engines: tuple[str, ...] = ("memory",)
    default_storage_engine = "memory"
    # from the release notes
    first_releases: Mapping[str, Release] = {"io_threads_async": (8,), "dual_channel_replication": (8,)}
    reserved: Mapping[str, str] = dict.fromkeys(_OWN, "")
    choices: Mapping[str, Sequence[str]] = {
        "appendfsync": ("always", "everysec", "no"),
        "maxmemory-policy": ("volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "allkeys-lru",
                             "allkeys-lfu", "allkeys-random", "noeviction"),
    }  # fmt: skip

    booleans = ("yes", "no", "true", "false")  # a spec's true is written as yes
    counts_choices = False

    def value_fault(self, info: OptionInfo, text: str) -> str | None:
        if info.type != "number" or configuration.is_number(text):
            return None
        return f"takes a number, with a unit such as kb, mb or gb, not `{text}`"

    def identify(self, run: Run) -> Identity:
        stdout, stderr = run("valkey-server", ("--version",))
        match = _SAID.search(stdout)
        if match is None:
            said = last_lines(stdout + stderr)
            raise IdentityError(f"valkey-server --version does not say which it is; it said: {said}")
        return Identity(match[1], facts={"said": stdout.strip(), "allocator": match[2]})

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        from stepgrid_valkey.catalogue import catalogue

        return catalogue(run)

    stop = signal.SIGTERM
    socket = "valkey.sock"
    port = 6379  # it does not listen there
    user = database = ""
    secret_variables: tuple[str, ...] = ()

    def client_environment(self, access: Access) -> Mapping[str, str]:
        """For steps of kind `command`."""
        return {"VALKEY_SOCKET": str(access.socket)}

    def configuration(self, home: ServerHome, options: Mapping[str, Value]) -> Mapping[str, str]:
        return {configuration.FILE: configuration.text(home, options)}

    def initialize(self, home: ServerHome) -> Sequence[Command]:
        """Nothing: an empty folder is an empty database."""
        return ()

    def prepare(self, home: ServerHome) -> Sequence[Command]:
        return ()

    def serve(self, home: ServerHome) -> Command:
        return Command((*home.programs["valkey-server"], str(home.folder.absolute() / configuration.FILE)))

    def connect(self, access: Access) -> Connection:
        """A server that still reads its files answers every command with an error, which is an OSError."""
        connection = ValkeyConnection(access.socket)
        try:
            connection.command("DBSIZE")
        except OSError:
            connection.close()
            raise
        return connection

    def effective(self, connection: Connection, asked: Mapping[str, Any]) -> Effective:
        return configuration.compare(asked, statistics.own(connection).pairs("CONFIG", "GET", "*"))

    def counters(self, connection: Connection) -> Mapping[str, float]:
        return statistics.look(connection).read().counters

    def looks(self, connection: Connection) -> StatisticsReaders:
        return (statistics.look(connection),)

    def settle(self, connection: Connection, access: Access) -> AbstractContextManager[None]:
        """Nothing is put off that a client could ask for."""
        return nullcontext()

    def analyze(self, connection: Connection, access: Access) -> None:
        """There is no optimizer."""

    def busy(self, connection: Connection, access: Access) -> Sequence[IdleReading]:
        return statistics.busy(connection)


ENGINE: Built = Valkey()
