"""How mysqld and mariadbd are set up, started and reached."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.engines.mysqld import binary, configuration, option_values, quiesce, running_server, server_statistics
from stepgrid.language.version import Version
from stepgrid.model.command import Command
from stepgrid.plugins.engine import Identity, OptionInfo, Run
from stepgrid.plugins.server import Access, Connection, ServerDescription, ServerHome

if TYPE_CHECKING:
    from stepgrid.build.recipe import InstalledPrograms, Recipe
    from stepgrid.lint.rule import Rule

CONFIGURATION, ACCOUNTS, BOOTSTRAP = "my.cnf", "init.sql", "bootstrap.sql"
# without the texts of HELP and the views of sys: nothing that is measured asks for them
_SYSTEM_TABLES = ("*_system_tables.sql", "*_performance_tables.sql", "*_system_tables_data.sql")
_INITIALIZE = Version("5.7.6")  # since when mysqld can; before: as MariaDB does


# where a server's files and sockets are is nobody's business but the runner's
_ITS_OWN = (
    "datadir", "socket", "port", "bind_address", "skip_networking", "pid_file", "log_error", "tmpdir", "basedir",
    "init_file", "user",
)  # fmt: skip
RESERVED: Mapping[str, str] = {"default_storage_engine": "storage_engine", **dict.fromkeys(_ITS_OWN, "")}


class MysqldServing:
    """What both engines have in common: `program` is what each calls its server."""

    name: str
    program: str
    kinds: tuple[str, ...] = ("sysbench", "insert_benchmark", "linkbench", "sql", "quiesce", "command")
    listing: tuple[str, ...] = ()  # what makes it name the options of plugins as well
    systems: tuple[str, ...] = ("cmake",)
    immutable: tuple[str, ...] = ("*.sst",)  # of its RocksDB storage engine
    server = True
    storage_engines: tuple[str, ...] = ("innodb", "rocksdb")
    default_storage_engine = "innodb"
    extensions: tuple[str, ...] = ()
    reserved = RESERVED
    booleans = option_values.BOOLEANS
    counts_choices = True
    known_options = Path(__file__).with_name("known_options.json")
    stop = signal.SIGTERM
    socket = "mysqld.sock"
    port = 3306
    user = "stepgrid"
    database = "stepgrid"
    secret_variables: tuple[str, ...] = ("MYSQL_PWD",)

    def client_environment(self, access: Access) -> Mapping[str, str]:
        if access.host:
            return {"MYSQL_HOST": access.host, "MYSQL_TCP_PORT": str(access.port), "MYSQL_PWD": access.password}
        return {"MYSQL_UNIX_PORT": str(access.socket), "MYSQL_PWD": access.password}

    def lines(self, home: ServerHome, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Of the configuration: what this engine needs besides."""
        return ()

    def bootstraps(self, version: str) -> bool:
        """Whether its system tables are made by SQL of the build, and not by the server itself."""
        return Version(version) < _INITIALIZE

    def configuration(self, home: ServerHome, options: Mapping[str, Any]) -> Mapping[str, str]:
        return {CONFIGURATION: configuration.render(home, options, self.lines(home, options))}

    def initialize(self, home: ServerHome) -> Sequence[Command]:
        if not self.bootstraps(home.version):
            return [Command((*self._server(home), "--initialize-insecure"))]
        sql = ["create database if not exists mysql;", "use mysql;", "set @skip_auth_anonymous = 1;"]
        argv = " ".join(shlex.quote(word) for word in (*self._server(home), "--bootstrap"))
        text = "\n".join([*sql, *(path.read_text(encoding="utf-8") for path in system_tables(home))])
        return [Command(("sh", "-c", f"exec {argv} < {BOOTSTRAP}"), files={BOOTSTRAP: text})]

    def prepare(self, home: ServerHome) -> Sequence[Command]:
        """Nothing: the server reads what its accounts are when it starts."""
        return ()

    def serve(self, home: ServerHome) -> Command:
        accounts = f"--init-file={home.folder / ACCOUNTS}"
        return Command((*self._server(home), accounts), files={ACCOUNTS: self.accounts(home)})

    def accounts(self, home: ServerHome) -> str:
        """A statement a line: a database that was restored has the password of another server."""
        access = home.access
        who, word = f"'{access.user}'@'localhost'", f"identified by '{access.password}'"
        made = [f"create user if not exists {who}", f"alter user {who} {word}", f"grant all on *.* to {who}"]
        if self.bootstraps(home.version) and self.program == "mysqld":
            made = [f"grant all on *.* to {who} {word}"]
        made[-1] += " with grant option"
        return "".join(f"{line};\n" for line in (*made, f"create database if not exists {access.database}"))

    def connect(self, access: Access) -> Connection:
        from stepgrid.engines.mysqld.connection import connect  # pymysql is slow to import

        return connect(access)

    def socket_of(self, given: Path, port: int) -> tuple[Path, int]:
        return given, port

    def described(self, connection: Connection) -> ServerDescription:
        return running_server.described(connection, self.name)

    effective = compared = staticmethod(running_server.effective)
    counters = staticmethod(running_server.counters)
    looks = staticmethod(server_statistics.looks)
    settle = staticmethod(quiesce.settle)
    analyze = staticmethod(quiesce.analyze)
    busy = staticmethod(quiesce.busy)
    since = staticmethod(running_server.since)
    meant = staticmethod(option_values.meant)
    value_fault = staticmethod(option_values.value_fault)

    def identify(self, run: Run) -> Identity:
        return binary.identify(run, self.program)

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        return binary.catalogue(run, self.program, self.listing)

    def recipes(self) -> Sequence[Recipe]:
        from stepgrid.engines.recipes.mysqld import MySQLdCMake

        return (MySQLdCMake(self.name),)

    def installed(self) -> InstalledPrograms:
        from stepgrid.engines.recipes import mysqld

        return mysqld.INSTALLED[self.name]

    def rules(self) -> Sequence[Rule]:
        from stepgrid.engines.mysqld.lints import RULES

        return RULES

    def _server(self, home: ServerHome) -> tuple[str, ...]:
        return (*home.programs[self.program], f"--defaults-file={home.folder / CONFIGURATION}")


def system_tables(home: ServerHome) -> list[Path]:
    """The SQL of the build, in the order in which it must run."""
    places = [home.places["system tables"]] if "system tables" in home.places else _beside(home)
    for place in places:
        found = [path for pattern in _SYSTEM_TABLES for path in sorted(place.glob(pattern))[:1]]
        if len(found) == len(_SYSTEM_TABLES):
            return found
    raise LookupError("the build has no SQL for the system tables (mariadb_system_tables.sql and the like)")


def _beside(home: ServerHome) -> list[Path]:
    """Of a program that somebody else installed: share/ of its base."""
    programs = (Path(prefix[-1]).resolve() for prefix in home.programs.values())
    bases = dict.fromkeys(path.parent.parent for path in programs)
    return [base / "share" / name for base in bases for name in ("mariadb", "mysql", ".")]
