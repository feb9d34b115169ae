"""The server engine that MySQL and MariaDB share: how it is configured, initialized, started, reached and settled."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.language.scalars import Version
from stepgrid.model.plan import Command, Value
from stepgrid.plugins.counters import (
    CACHE_HITS,
    CACHE_MISSES,
    CACHE_REQUESTS,
    COMMITS,
    FSYNCS,
    LOG_BYTES,
    REQUEST_MISSES,
    ROW_LOCK_MS,
    ROWS_READ,
    SYNCS,
    RowCounters,
)
from stepgrid.plugins.engine import EngineBase, EngineEvent, Identity, OptionInfo, Run
from stepgrid.plugins.server import (
    Access,
    Connection,
    IdleReading,
    ServerDescription,
    ServerHome,
    for_each,
    templates,
)
from stepgrid_databases.engines.mysqld import connection as connections
from stepgrid_databases.engines.mysqld import innodb, myrocks, options, statistics
from stepgrid_databases.engines.mysqld.connection import OWN_TABLES, connect

if TYPE_CHECKING:
    from stepgrid.build.recipe import InstalledPrograms, Recipe

_CONFIGURATION, _ACCOUNTS, _BOOTSTRAP = "my.cnf", "init.sql", "bootstrap.sql"
_INITIALIZE = Version("5.7.6")  # since when mysqld can; before: as MariaDB does
_MYROCKS = "rocksdb"
_TABLES = (
    "SELECT concat('`', replace(table_schema, '`', '``'), '`.`', replace(table_name, '`', '``'), '`') AS name "
    "FROM information_schema.tables WHERE table_type = 'BASE TABLE' "
    f"AND table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') AND {OWN_TABLES}"
)
_NO_PRIVILEGE = 1227
_DROP = """\
select coalesce(concat('drop user ', group_concat(distinct grantee)), 'do 0') into @earlier \
from information_schema.user_privileges where grantee like '''{user}''@%' and grantee <> '''{user}''@''localhost'''
prepare earlier from @earlier
execute earlier
"""


# variables that change no database, of InnoDB, MyRocks and above them
_READ_OPTIONS = (
    "innodb_buffer_pool_*", "innodb_old_blocks_*", "innodb_*read_ahead*", "innodb_read_io_threads",
    "innodb_adaptive_hash_*", "innodb_parallel_read_threads", "innodb_spin_wait_*", "innodb_sync_*",
    "join_buffer_size", "sort_buffer_size", "read_buffer_size", "read_rnd_buffer_size", "key_buffer_size",
    "tmp_table_size", "max_heap_table_size", "optimizer_*", "table_open_cache*", "table_definition_cache",
    "thread_*", "query_cache_*", "performance_schema*", "max_connections",
    "rocksdb_block_cache_size", "rocksdb_cache_*", "mhnsw_ef_search", "mhnsw_max_cache_size",
)  # fmt: skip


_WRITTEN_OPTIONS = (
    "*log_file", "log_slow_query_file", "log_bin*", "log_basename", "*relay_log*", "*_info_file", "*_status_file",
    "innodb_*_dir*", "innodb_*_path", "innodb_buffer_pool_filename", "rocksdb_*_dir", "rocksdb_*_path", "aria_log_*",
    "secure_file_priv",
)  # fmt: skip


COUNTER_NAMES: Mapping[str, Sequence[str]] = {
    FSYNCS: ("Innodb_os_log_fsyncs|Innodb_data_fsyncs", "[Rr]ocksdb_wal_synced"),  # MariaDB has no longer the former
    SYNCS: ("Innodb_os_log_fsyncs", "Innodb_data_fsyncs", "Binlog_group_commits", "[Rr]ocksdb_wal_synced"),
    COMMITS: ("Handler_commit",),
    CACHE_HITS: ("[Rr]ocksdb_block_cache_hit",),
    CACHE_MISSES: ("[Rr]ocksdb_block_cache_miss",),
    CACHE_REQUESTS: ("Innodb_buffer_pool_read_requests",),
    REQUEST_MISSES: ("Innodb_buffer_pool_reads",),
    LOG_BYTES: ("Innodb_os_log_written", "[Rr]ocksdb_wal_bytes"),
    ROWS_READ: ("Handler_read_*", "!Handler_read_retry", "!Handler_read_rnd_deleted"),
    ROW_LOCK_MS: ("Innodb_row_lock_time",),
}
_FOUND_ROWS = (
    RowCounters(("Rows_read",), ("Handler_read_*",)),  # of MariaDB
    RowCounters(
        ("Innodb_rows_read", "[Rr]ocksdb_rows_read"),
        ("Innodb_buffer_pool_read_requests", "[Rr]ocksdb_number_db_seek", "[Rr]ocksdb_number_keys_read"),
    ),
)


class MysqldServing(EngineBase):
    name: str
    program: str  # what each engine calls its server
    repository: str
    kinds: tuple[str, ...] = ("sysbench", "insert_benchmark", "linkbench", "tpcc", "sql", "quiesce", "crash", "command")
    listing: tuple[str, ...] = ()  # arguments that make it list the options of plugins as well
    systems: tuple[str, ...] = ("cmake",)
    immutable: tuple[str, ...] = ("*.sst",)  # of its RocksDB storage engine
    server = True
    storage_engines: tuple[str, ...] = ("innodb", _MYROCKS)
    default_storage_engine = "innodb"
    reserved: Mapping[str, str] = {
        "default_storage_engine": "storage_engine",
        **dict.fromkeys(("datadir", "socket", "port", "bind_address", "skip_networking", "pid_file", "log_error"), ""),
        **dict.fromkeys(("tmpdir", "basedir", "init_file", "user"), ""),
    }
    read_options = _READ_OPTIONS
    option_effects = options.EFFECTS
    equal = options.EQUAL
    written_options = _WRITTEN_OPTIONS
    counter_names = COUNTER_NAMES
    found_rows = _FOUND_ROWS
    booleans = options.BOOLEANS
    counts_choices = True
    known_options = Path(__file__).with_name("known_options.json")
    spelled_option = staticmethod(options.prefixed_option)
    value_fault = staticmethod(options.value_fault)
    rules = staticmethod(options.rules)

    stop = signal.SIGTERM
    socket = "mysqld.sock"
    port = 3306
    user = "stepgrid"
    database = "stepgrid"
    secret_variables: tuple[str, ...] = ("MYSQL_PWD",)
    tls_counter = "Ssl_finished_accepts"
    connect = staticmethod(connect)
    effective = compared = staticmethod(connections.effective)
    counters = staticmethod(connections.counters)
    explain = staticmethod(connections.explain)
    index_definitions = staticmethod(connections.index_definitions)
    since = staticmethod(connections.since)
    looks = staticmethod(statistics.looks)
    states = staticmethod(innodb.pressures)
    tells_log = staticmethod(innodb.tells_log)
    log_positions = staticmethod(innodb.log_positions)
    debts = innodb.DEBTS
    loading_options = innodb.LOADING_OPTIONS
    page_list = staticmethod(innodb.page_list)
    loading_end = staticmethod(innodb.loading_end)
    storage_revisions: Mapping[str, int] = {"innodb": 1}  # 1: it no longer warms itself beside the first step
    event_log = "#rocksdb/LOG"  # of MyRocks; InnoDB logs no events

    def identify(self, run: Run) -> Identity:
        return options.identify(run, self.program)

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        return options.catalogue(run, self.program, self.listing)

    def events(self, lines: Iterable[str]) -> Iterable[EngineEvent]:
        from stepgrid_databases.engines.rocksdb import log_events

        return log_events(lines)

    def recipes(self) -> Sequence[Recipe]:
        from stepgrid_databases.engines.recipes.mysqld import MySQLdCMake

        return (MySQLdCMake(self.name),)

    def installed(self) -> InstalledPrograms:
        from stepgrid_databases.engines.recipes.mysqld import INSTALLED

        return INSTALLED[self.name]

    def lines(self, home: ServerHome, options: Mapping[str, Value]) -> tuple[str, ...]:
        """Add lines to the configuration that this engine needs besides."""
        return ()

    def bootstraps(self, version: str) -> bool:
        """Tell whether SQL of the build makes the system tables, and not the server itself."""
        return Version(version) < _INITIALIZE

    def configuration(self, home: ServerHome, options: Mapping[str, Value]) -> Mapping[str, str]:
        return {_CONFIGURATION: render(home, options, self.lines(home, options))}

    def initialize(self, home: ServerHome) -> Sequence[Command]:
        if not self.bootstraps(home.version):
            return [Command((*self._server(home), "--initialize-insecure"))]
        sql = ["create database if not exists mysql;", "use mysql;", "set @skip_auth_anonymous = 1;"]
        argv = " ".join(shlex.quote(word) for word in (*self._server(home), "--bootstrap"))
        text = "\n".join([*sql, *(path.read_text(encoding="utf-8") for path in system_tables(home))])
        return [Command(("sh", "-c", f"exec {argv} < {_BOOTSTRAP}"), files={_BOOTSTRAP: text})]

    def prepare(self, home: ServerHome) -> Sequence[Command]:
        return ()  # the server reads what its accounts are when it starts

    def serve(self, home: ServerHome) -> Command:
        accounts = str(home.access.sockets / _ACCOUNTS)  # its password goes with the folder of the socket
        argv, files = (*self._server(home), f"--init-file={accounts}"), {accounts: self.accounts(home)}
        return Command(argv, files=files, secrets=(accounts,))

    def serve_again(self, home: ServerHome) -> Command:
        return Command(self._server(home))

    def accounts(self, home: ServerHome) -> str:
        """Write a statement a line: a database that was restored has the password of another server.

        It may also have the account of an earlier machine of clients, which is dropped."""
        access = home.access
        account, password = f"'{access.user}'@'localhost'", f"identified by '{access.password}'"
        statements = [f"create user if not exists {account}", f"alter user {account} {password}"]
        grant = f"grant all on *.* to {account}"
        if self.bootstraps(home.version) and self.program == "mysqld":
            statements, grant = [], f"{grant} {password}"
        database = f"create database if not exists {access.database}"
        if access.client:
            statements += [line.replace("'localhost'", f"'{access.client}'") for line in (*statements, grant)]
        drop = _DROP.format(user=access.user)
        return "".join(
            f"{line};\n" for line in (*drop.splitlines(), *statements, f"{grant} with grant option", database)
        )

    def network_environment(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        return {}  # its clients ask for TLS, or not, by their own defaults

    def socket_of(self, path: Path, port: int) -> tuple[Path, int]:
        return path, port

    def client_environment(self, access: Access) -> Mapping[str, str]:
        if access.host:
            return {"MYSQL_HOST": access.host, "MYSQL_TCP_PORT": str(access.port), "MYSQL_PWD": access.password}
        return {"MYSQL_UNIX_PORT": str(access.socket), "MYSQL_PWD": access.password}

    def described(self, connection: Connection) -> ServerDescription:
        return connections.described(connection, self.name)

    @contextmanager
    def settle(self, connection: Connection, access: Access) -> Iterator[None]:
        """Have InnoDB write its dirty pages back for as long as this lasts, or MyRocks flush and compact now.

        Nothing is set in a server that ran before: its other users would have it set too.
        """
        if access.running:
            yield
        elif access.storage_engine == _MYROCKS:
            myrocks.flush(connection)
            yield
        else:
            with innodb.hurry(connection):
                yield

    def has_tables(self, access: Access) -> bool:
        with closing(connect(access)) as connection:
            return bool(connection.query(f"{_TABLES} LIMIT 1"))

    def analyze(self, connection: Connection, access: Access) -> None:
        tables = [str(row["name"]) for row in connection.query(_TABLES)]
        for_each(tables, partial(connect, access), "ANALYZE NO_WRITE_TO_BINLOG TABLE {}")

    def busy(self, connection: Connection, access: Access) -> Sequence[IdleReading]:
        idle_readings = myrocks.idle_readings if access.storage_engine == _MYROCKS else innodb.idle_readings
        try:
            return idle_readings(connection)
        except Exception as error:
            if error.args[:1] == (_NO_PRIVILEGE,):
                raise PermissionError(
                    f"the user `{access.user}` needs PROCESS to see what the server has left to do"
                    " (`GRANT PROCESS ON *.*`)"
                ) from None
            raise

    def _server(self, home: ServerHome) -> tuple[str, ...]:
        return (*home.programs[self.program], f"--defaults-file={home.folder / _CONFIGURATION}")


_PLAIN = re.compile(r"[^\s\"'#\\;]([^\"'#\\\n\r\t]*[^\s\"'#\\])?")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def render(home: ServerHome, options: Mapping[str, Value], lines: tuple[str, ...] = ()) -> str:
    environment = templates("mysqld")
    environment.filters["value"] = quote
    return environment.get_template("my.cnf.j2").render(home=home, options=options, lines=lines)


def quote(value: Any, name: str = "") -> str:
    """Write a value as an option file has it: booleans as words, since an enumeration counts its words by itself."""
    if isinstance(value, bool):
        negated = name.replace("-", "_").startswith("skip_")  # skip_x=OFF would be taken for skip_x
        return ("1" if value else "0") if negated else ("ON" if value else "OFF")
    text = str(value)
    return text if not text or _PLAIN.fullmatch(text) else '"' + "".join(_ESCAPES.get(c, c) for c in text) + '"'


# without the texts of HELP and the views of sys: nothing that is measured asks for them
_SYSTEM_TABLES = ("*_system_tables.sql", "*_performance_tables.sql", "*_system_tables_data.sql")


def system_tables(home: ServerHome) -> list[Path]:
    """Find the SQL of the build, in the order in which it must run; of an installed program below its base's share/."""
    bases = dict.fromkeys(Path(prefix[-1]).resolve().parent.parent for prefix in home.programs.values())
    shares = [base / "share" / name for base in bases for name in ("mariadb", "mysql", ".")]
    for folder in [home.build_folders["system tables"]] if "system tables" in home.build_folders else shares:
        files = [path for pattern in _SYSTEM_TABLES for path in sorted(folder.glob(pattern))[:1]]
        if len(files) == len(_SYSTEM_TABLES):
            return files
    raise LookupError("the build has no SQL for the system tables (mariadb_system_tables.sql and the like)")
