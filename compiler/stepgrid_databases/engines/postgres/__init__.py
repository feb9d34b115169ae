"""PostgreSQL, with pgvector as an extension of a build."""

from __future__ import annotations

import os
import pwd
import shlex
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.model.plan import Command, Value
from stepgrid.plugins.counters import (
    CACHE_HITS,
    CACHE_MISSES,
    COMMITS,
    FSYNCS,
    LOG_BYTES,
    ROWS_READ,
    SYNCS,
    RowCounters,
    SessionWait,
)
from stepgrid.plugins.durability import (
    BINARY_LOG,
    COMMIT,
    LOG_DETAIL,
    NONE,
    OTHER,
    SYNC,
    TORN_PAGES,
    Promise,
)  # fmt: skip
from stepgrid.plugins.engine import Built, EngineBase, EqualOptions, Release, Renaming
from stepgrid.plugins.server import templates
from stepgrid_databases.engines.postgres import connection, options, statistics

if TYPE_CHECKING:
    from stepgrid.build.recipe import InstalledPrograms, Order, Recipe
    from stepgrid.lint.rule import Rule
    from stepgrid.model.plan import Json
    from stepgrid.plugins.server import Access, ServerHome
# the first release that can, from the release notes
_SINCE: Mapping[str, Release] = {
    "parallel_query": (9, 6),
    "declarative_partitioning": (10,),
    "covering_index": (11,),
    "jit": (11,),
    "parallel_index_build": (11,),
    "generated_columns": (12,),
    "vacuum_index_cleanup": (12,),
    "autovacuum_insert": (13,),
    "btree_deduplication": (13,),
    "incremental_sort": (13,),
    "parallel_vacuum": (13,),
    "lz4_toast": (14,),
    "pg_stat_wal": (14,),
    "wal_compression_lz4": (15,),
    "pg_stat_io": (16,),
    "pg_stat_checkpointer": (17,),
    "io_method": (18,),
    "index_skip_scan": (18,),
}
# the first release that has the new name, or not the old one, from the release notes
RENAMINGS = (
    Renaming("checkpoint_segments", (9, 5), "max_wal_size", 48, "MB"),
    Renaming("min_parallel_relation_size", (10,), "min_parallel_table_scan_size"),
    Renaming("replacement_sort_tuples", (11,)),
    Renaming("wal_keep_segments", (13,), "wal_keep_size", 16, "MB"),
    Renaming("operator_precedence_warning", (14,)),
    Renaming("vacuum_cleanup_index_scale_factor", (14,)),
    Renaming("stats_temp_directory", (15,)),
    Renaming("force_parallel_mode", (16,), "debug_parallel_query"),
    Renaming("vacuum_defer_cleanup_age", (16,)),
    Renaming("old_snapshot_threshold", (17,)),
    Renaming("ssl_ecdh_curve", (18,), "ssl_groups"),
)
# settings that change no database
_READ_OPTIONS = (
    "shared_buffers", "huge_pages", "effective_cache_size", "work_mem", "hash_mem_multiplier", "temp_buffers",
    "*_page_cost", "cpu_*_cost", "parallel_*_cost", "*_collapse_limit", "enable_*", "jit*", "geqo*", "plan_cache_mode",
    "effective_io_concurrency", "io_method", "io_workers", "io_*combine_limit", "max_parallel_workers*",
    "min_parallel_*", "max_connections", "hnsw.ef_search", "ivfflat.probes",
)  # fmt: skip
_CONFIGURATION = "postgresql.conf"
_PROMISES = (
    Promise(COMMIT, "synchronous_commit", "1", {"0": NONE, OTHER: SYNC}, changes=(("fsync", "0", {SYNC: NONE}),)),
    Promise(BINARY_LOG, "", NONE, {}),
    Promise(TORN_PAGES, "full_page_writes", "1", {"0": "unprotected", OTHER: "protected"}),
    Promise(LOG_DETAIL, "wal_level", (((9,), "minimal"), ((10,), "replica")), {}),
)

_COMMITS = {word: {"synchronous_commit": value, "fsync": "on"} for word, value in ((NONE, "off"), (SYNC, "on"))}


COUNTER_NAMES: Mapping[str, Sequence[str]] = {
    FSYNCS: ("pg_stat_wal.wal_sync", "pg_stat_io.*.wal.normal.fsyncs"),
    SYNCS: ("pg_stat_wal.wal_sync", "pg_stat_io.*.wal.*.fsyncs"),
    COMMITS: ("pg_stat_database.xact_commit",),
    CACHE_HITS: ("pg_stat_database.blks_hit",),
    CACHE_MISSES: ("pg_stat_database.blks_read",),
    LOG_BYTES: ("pg_stat_wal.wal_bytes",),
    ROWS_READ: ("pg_stat_user_tables.seq_tup_read", "pg_stat_user_indexes.idx_tup_read"),
}
_FOUND_ROWS = (
    RowCounters(COUNTER_NAMES[ROWS_READ], ("pg_statio_user_tables.*_blks_*", "pg_stat_user_tables.seq_tup_read")),
)
_WAIT_EVENTS = (
    SessionWait("io:wal*sync*", "syncs of the log", "disk"),
    SessionWait("io:wal*", "the log's files", "disk"),
    SessionWait("io:datafileread", "reads of blocks", "disk", is_read=True),
    SessionWait("io:*", "files", "disk"),
    SessionWait("client:*", "its client", "peer"),
    SessionWait("lock:transactionid", "row locks", "lock"),
    SessionWait("lock:tuple", "row locks", "lock"),
    SessionWait("lock:*", "locks", "lock"),
    SessionWait("lwlock:*", "locks within the server", "lock"),
    SessionWait("timeout:*", "a timer", "timer"),
)


class Postgres(EngineBase):
    name = "postgres"
    programs: tuple[str, ...] = ("postgres", "initdb", "pg_ctl")
    kinds: tuple[str, ...] = (
        "pgbench", "sysbench", "insert_benchmark", "linkbench", "tpcc", "sql", "quiesce", "crash", "command",
        "vector_search",
    )  # fmt: skip
    server = True
    storage_engines: tuple[str, ...] = ("heap",)
    default_storage_engine = "heap"
    extensions: tuple[str, ...] = ("pgvector",)
    systems: tuple[str, ...] = ("configure", "meson")
    reserved: Mapping[str, str] = {
        "default_table_access_method": "storage_engine",
        **dict.fromkeys(("data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"), ""),
        **dict.fromkeys(("unix_socket_directories", "listen_addresses", "port"), ""),
    }
    read_options = _READ_OPTIONS
    option_effects = options.EFFECTS
    written_options = ("log_directory", "log_filename", "stats_temp_directory", "temp_tablespaces")
    first_releases = _SINCE
    renamings = RENAMINGS
    counter_names = COUNTER_NAMES
    found_rows = _FOUND_ROWS
    wait_events = _WAIT_EVENTS
    vector_server = "stepgrid_databases.engines.postgres.vectors:PostgresVectors"
    promises = _PROMISES
    equal = (EqualOptions("shared_buffers", ("kB", "MB", "GB", "TB"), _COMMITS),)
    identify = staticmethod(options.identify)
    catalogue = staticmethod(options.catalogue)
    value_fault = staticmethod(options.value_fault)
    booleans, counts_choices = options.BOOLEANS, False
    known_options = Path(__file__).with_name("known_options.json")
    repository = "https://github.com/postgres/postgres.git"

    stop = signal.SIGINT  # fast: ends sessions; SIGTERM waits for every client to leave
    socket = ".s.PGSQL.5432"  # libpq makes the name of the number
    port = 5432
    user = database = "stepgrid"
    secret_variables: tuple[str, ...] = ("PGPASSWORD",)
    tls_counter = ""  # its clients are told
    connect = staticmethod(connection.connect)
    has_tables = staticmethod(connection.has_tables)
    effective = staticmethod(connection.effective)
    counters = staticmethod(connection.counters)
    explain = staticmethod(connection.explain)
    index_definitions = staticmethod(connection.index_definitions)
    report_counters = staticmethod(connection.report_counters)
    described = staticmethod(connection.described)
    since = staticmethod(connection.since)
    compared = staticmethod(connection.compared)
    looks = staticmethod(statistics.looks)
    states = staticmethod(statistics.states)
    debts = statistics.DEBTS
    connect_aside = staticmethod(connection.connect_aside)
    session_waits = staticmethod(statistics.session_waits)
    tells_log = staticmethod(connection.tells_log)
    log_positions = staticmethod(connection.log_positions)
    settle = staticmethod(statistics.settle)
    analyze = staticmethod(statistics.analyze)
    busy = staticmethod(statistics.busy)
    loading_options = connection.LOADING_OPTIONS
    page_list = staticmethod(connection.page_list)
    loading_end = staticmethod(connection.loading_end)
    event_log = ""
    events = staticmethod(statistics.log_events)

    def recipes(self) -> Sequence[Recipe]:
        from stepgrid_databases.engines.recipes.postgres import PostgresConfigure, PostgresMeson

        return PostgresConfigure(), PostgresMeson()

    def installed(self) -> InstalledPrograms:
        from stepgrid.build.recipe import InstalledPrograms

        return InstalledPrograms(clients=("psql", "pgbench", "pg_isready", "pg_basebackup"))

    def extend(self, order: Order, prefix: Path, origin: str) -> Mapping[str, Json]:
        from stepgrid_databases.engines.recipes.postgres import installed_extensions

        return installed_extensions(order, prefix, origin)

    def rules(self) -> Sequence[Rule]:
        from stepgrid.lint.spec_rules import cache_over_memory

        return [cache_over_memory("shared_buffers")]

    def configuration(self, home: ServerHome, options: Mapping[str, Value]) -> Mapping[str, str]:
        """Render files for a server that the benchmark's role of one other machine may reach by the network, if any.

        A password in the database would be that of the image that it was restored from. So the role that initdb makes
        has none: by `peer` it is open to whoever runs the benchmark and to nobody else, and it gives the benchmark's
        role its password at the first connection after each start.
        """
        environment, folder = templates("postgres"), home.folder.absolute()  # a server changes to its data directory
        values = {
            "sockets": quote(str(home.access.sockets)),
            "listen": quote(home.access.listen),
            "client": home.access.client,
            "user": home.access.user,
            "port": quote(home.access.port),
            "hba": quote(str(folder / "pg_hba.conf")),
            "ident": quote(str(folder / "pg_ident.conf")),
            "owner": connection.OWNER,
            "account": f'"{home.account or _account()}"',
            "options": {name: quote(value) for name, value in options.items()},
        }
        names = (_CONFIGURATION, "pg_hba.conf", "pg_ident.conf")
        return {name: environment.get_template(f"{name}.j2").render(values) for name in names}

    def initialize(self, home: ServerHome) -> Sequence[Command]:
        """Leave checksums to the build's default; take the C locale, so that no library of the host sorts."""
        argv = (
            *home.programs["initdb"],
            f"--pgdata={home.data}",
            f"--username={connection.OWNER}",
            "--auth-local=peer",
            "--auth-host=reject",
            "--locale=C",
            "--encoding=UTF8",
        )
        return (Command(argv),)

    def make_role(self, home: ServerHome) -> Command:
        access, file = home.access, "role.sql"
        role = f"CREATE ROLE {access.user} SUPERUSER LOGIN PASSWORD '{access.password}'"
        statements = "SET password_encryption = 'scram-sha-256'", role, f"CREATE DATABASE {access.database}"
        words = (*self.serve(home).argv[:1], "--single", *self.serve(home).argv[1:], "postgres")
        argv = " ".join(shlex.quote(word) for word in words)
        return Command(
            ("sh", "-c", f"exec {argv} < {file}"), files={file: "".join(f"{line};\n" for line in statements)}
        )

    def prepare(self, home: ServerHome) -> Sequence[Command]:
        return ()  # the first connection sets the password

    def serve(self, home: ServerHome) -> Command:
        """Start without the postgresql.conf that initdb wrote: the build's defaults hold."""
        config = f"config_file={home.folder.absolute() / _CONFIGURATION}"
        return Command((*home.programs["postgres"], "-D", str(home.data.absolute()), "-c", config))

    def socket_of(self, path: Path, port: int) -> tuple[Path, int]:
        """Take the folder of a socket, or the socket itself, whose name ends in the port."""
        number = path.name.removeprefix(".s.PGSQL.")
        if number != path.name and number.isdecimal():
            return path, int(number)
        return path / f".s.PGSQL.{port}", port

    def network_environment(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        return {"PGSSLMODE": "require" if settings.get("ssl") == "on" else "disable"}

    def client_environment(self, access: Access) -> Mapping[str, str]:
        address = {"PGHOST": access.host or str(access.sockets), "PGPORT": str(access.port)}
        return {**address, "PGUSER": access.user, "PGPASSWORD": access.password, "PGDATABASE": access.database}


def _account() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a user without a passwd entry
        return str(os.geteuid())


def quote(value: Any) -> str:
    """Write a value as postgresql.conf has it: in quotes, which it takes for numbers too."""
    text = ("on" if value else "off") if isinstance(value, bool) else str(value)
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n")
    return f"'{escaped}'"


ENGINE: Built = Postgres()
