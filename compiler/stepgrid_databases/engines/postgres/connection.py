"""A connection to PostgreSQL, and what a running server says of itself: version, settings, counters.

A server that stepgrid starts is reached by its private socket with the password of this start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from stepgrid.model.plan import Value
from stepgrid.model.units import as_number
from stepgrid.plugins.engine import Identity, IdentityError, OptionInfo
from stepgrid.plugins.server import Access, Connection, Effective, ServerDescription, ServerRow, ServerStart
from stepgrid.plugins.statements import INDEX
from stepgrid_databases.engines.postgres.options import ASSERTIONS, FACTS

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import DictRow

OWNER = "stepgrid_owner"  # the role that initdb makes, without a password
_MAINTENANCE = "postgres"  # the database that initdb makes
_ATTEMPT_SECONDS = 10  # seconds for one attempt; whoever waits for a server tries again


class PostgresConnection:
    def __init__(self, connection: psycopg.Connection[DictRow]) -> None:
        self.client = connection

    def query(self, sql: str) -> list[ServerRow]:
        import psycopg

        try:
            cursor = self.client.execute(sql)
            return list(cursor.fetchall()) if cursor.description is not None else []
        except psycopg.OperationalError as error:
            if self.client.closed:
                raise ConnectionError(_last_line(error)) from None
            raise

    def close(self) -> None:
        self.client.close()


def connect(access: Access) -> PostgresConnection:
    """Connect as the benchmark's role; the first connection after a start sets its password (configuration())."""
    if access.running:
        return PostgresConnection(_open(access, access.user, access.password or None, access.database))
    admitted = access.sockets / "admitted"  # the password that was set in this start
    if not admitted.exists() or admitted.read_text(encoding="utf-8") != access.password:
        _admit(access)
        admitted.touch(mode=0o600)
        admitted.write_text(access.password, encoding="utf-8")
    return PostgresConnection(_open(access, access.user, access.password, access.database))


_DATABASES = "SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate"
_ANY_TABLE = (
    "SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') "
    "AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') LIMIT 1"
)


def has_tables(access: Access) -> bool:
    """Look into all databases: a client may make one of its own."""
    with closing(connect(access)) as connection:
        names = [str(row["datname"]) for row in connection.query(_DATABASES)]
    for name in names:
        with closing(connect(access._replace(database=name))) as connection:
            if connection.query(_ANY_TABLE):
                return True
    return False


def connect_aside(access: Access) -> PostgresConnection:
    """Connect to the database of maintenance, whose statements and commits are not the benchmark's."""
    return connect(access._replace(database=_MAINTENANCE))


def _open(access: Access, user: str, password: str | None, database: str) -> psycopg.Connection[DictRow]:
    import psycopg  # slow to import
    from psycopg.rows import dict_row

    try:
        return psycopg.connect(
            host=access.host or str(access.sockets),
            port=access.port,
            user=user,
            password=password,
            dbname=database,
            connect_timeout=_ATTEMPT_SECONDS,
            autocommit=True,
            row_factory=dict_row,
        )
    except psycopg.OperationalError as error:
        raise ConnectionError(_last_line(error)) from None


def _admit(access: Access) -> None:
    """Make the role a superuser, since benchmarks make checkpoints and extensions; and its database."""
    from psycopg import sql

    role, database = sql.Identifier(access.user), sql.Identifier(access.database)
    with _open(access, OWNER, None, _MAINTENANCE) as owner:
        exists = owner.execute("SELECT FROM pg_roles WHERE rolname = %s", [access.user]).fetchone() is not None
        owner.execute("SET password_encryption = 'scram-sha-256'")  # md5 is the default before 14
        verb = sql.SQL("ALTER" if exists else "CREATE")
        owner.execute(sql.SQL("{} ROLE {} SUPERUSER LOGIN PASSWORD {}").format(verb, role, access.password))
        if owner.execute("SELECT FROM pg_database WHERE datname = %s", [access.database]).fetchone() is None:
            owner.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))


def _last_line(error: psycopg.Error) -> str:
    """Skip the lines before the last: they name the socket."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


# Settings and counters of a server that was started for a stage.

_EFFECTIVE = "SELECT name, current_setting(name) AS value, source, sourcefile FROM pg_settings"
_COUNTER_VIEWS = ("pg_stat_database", "pg_stat_bgwriter", "pg_stat_checkpointer", "pg_stat_wal", "pg_stat_archiver")


def effective(connection: Connection, options: Mapping[str, Value]) -> Effective:
    """Name the options that something in the data directory overrides; a value that it cannot take it refuses."""
    rows = {str(row["name"]): row for row in connection.query(_EFFECTIVE)}
    differences = {}
    for name in options:
        row = rows.get(name)
        # override: what the server works out of a value that says so (-1)
        if row is None or (
            row["source"] in ("configuration file", "override") and not str(row["sourcefile"]).endswith(".auto.conf")
        ):
            continue
        origin = row["sourcefile"] if row["source"] == "configuration file" else row["source"]
        differences[name] = f"it is {row['value']}: {origin} comes after what was asked for"
    return Effective({name: str(row["value"]) for name, row in rows.items()}, differences)


# Warming: pg_prewarm lists the pages of the buffers, and loads them at a start, where it is preloaded.

LOADING_OPTIONS: Mapping[str, Value] = {}  # the spec preloads it: not every build has it
_AUTOPREWARM = "SELECT coalesce(current_setting('pg_prewarm.autoprewarm', true), 'off') AS value"
_LOADED = re.compile(r"autoprewarm successfully prewarmed [^\n]*")


def page_list(storage_engine: str, options: Mapping[str, Value]) -> str:
    return "autoprewarm.blocks"


def loading_end(connection: Connection, log: str) -> str:
    if connection.query(_AUTOPREWARM)[0]["value"] != "on":
        raise LookupError("PostgreSQL loads no pages: it takes the option `shared_preload_libraries: pg_prewarm`")
    match = _LOADED.search(log)
    return match[0] if match else ""


def report_counters(connection: Connection) -> None:
    """Flush the session's statistics. Before 15 a session does so each half a second, when a statement is over."""
    flushes = connection.query("SELECT FROM pg_proc WHERE proname = 'pg_stat_force_next_flush'")
    connection.query("SELECT pg_stat_force_next_flush()" if flushes else "SELECT pg_sleep(0.6)")


_LOG_POSITIONS = (
    "SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS written, "
    "(pg_current_wal_flush_lsn() - '0/0')::float8 AS flushed"
)


def tells_log(storage_engine: str) -> bool:
    return True


def log_positions(connection: Connection, access: Access) -> tuple[float, float]:
    (row,) = connection.query(_LOG_POSITIONS)
    return row["written"], row["flushed"]


def existing_views(connection: Connection, names: tuple[str, ...]) -> list[str]:
    """Keep the system views that this release has."""
    listed = ", ".join(f"'{name}'" for name in names)
    rows = connection.query(
        "SELECT relname AS name FROM pg_class "
        f"WHERE relnamespace = 'pg_catalog'::regnamespace AND relname IN ({listed})"
    )
    return sorted(str(row["name"]) for row in rows)


def counters(connection: Connection) -> Mapping[str, float]:
    """Read counters as `view.column`; those that are kept by database, of the database that is connected to."""
    values = {}
    for view in existing_views(connection, _COUNTER_VIEWS):
        where = " WHERE datname = current_database()" if view == "pg_stat_database" else ""
        for row in connection.query(f"SELECT to_jsonb(seen) AS seen FROM {view} AS seen{where}"):
            for name, value in row["seen"].items():
                if (number := as_number(value)) is not None and not name.endswith("id"):
                    values[f"{view}.{name}"] = number
    return values


def explain(connection: Connection, sql: str) -> list[str]:
    """List the nodes, without what they filter and sort by."""
    lines = [str(row["QUERY PLAN"]) for row in connection.query(f"EXPLAIN (COSTS OFF) {sql}")]
    nodes = [lines[0], *(line.strip()[2:] for line in lines if line.strip().startswith("->"))]
    scans = (node.strip().replace("Bitmap Index Scan on ", "Bitmap Index Scan using ") for node in nodes)
    return [node for node in scans if "Bitmap Heap Scan" not in node]  # its indexes follow


def index_definitions(connection: Connection, names: Sequence[str]) -> dict[str, str]:
    """Read what stands behind USING: btree (tenant, id)."""
    quoted = ", ".join("'{}'".format(name.replace("'", "''")) for name in names)
    rows = connection.query(f"SELECT indexname, tablename, indexdef FROM pg_indexes WHERE indexname IN ({quoted})")
    return {
        f"{INDEX}{row['indexname']} of {row['tablename']}": str(row["indexdef"]).partition(" USING ")[2] for row in rows
    }


# Description of a server that ran before.

_SETTINGS = (
    "SELECT name, setting, current_setting(name) AS shown, unit, vartype, min_val, max_val, enumvals, short_desc "
    "FROM pg_settings"
)
_SINCE = (
    "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8 AS seconds, "
    "pg_backend_pid() AS pid, (SELECT setting FROM pg_settings WHERE name = 'data_directory') AS data"
)
_TYPES = {"bool": "bool", "integer": "number", "real": "number", "enum": "enum"}
_AMOUNT = re.compile(r"([+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?)\s*+([A-Za-z]*+)")
_BYTES = {"B": 1.0, "kB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30, "TB": 2.0**40}
_MILLISECONDS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6, "d": 8.64e7}
_UNITS: Mapping[str, float] = {**_BYTES, **_MILLISECONDS}
_BOOLEANS = {
    **dict.fromkeys(("on", "true", "yes", "1", "t", "y"), "on"),
    **dict.fromkeys(("off", "false", "no", "0", "f", "n"), "off"),
}


def described(connection: Connection) -> ServerDescription:
    rows = _settings(connection)
    settings = {name: str(row["setting"]) for name, row in rows.items()}
    version = settings.get("server_version")
    if not version:
        raise IdentityError("it does not say which version it is")
    assertions = settings["debug_assertions"] == "on" if "debug_assertions" in settings else None
    (row,) = connection.query("SELECT version() AS version")
    facts = {fact: settings[name] for fact, name in FACTS.items() if name in settings}
    identity = Identity(
        version.split()[0],
        (ASSERTIONS,) if assertions else (),
        assertions,
        {"said": str(row["version"]), **facts},
    )
    return ServerDescription(identity, {name: option_info(name, row) for name, row in rows.items()})


def _settings(connection: Connection) -> dict[str, ServerRow]:
    return {str(row["name"]): row for row in connection.query(_SETTINGS)}


def option_info(name: str, row: ServerRow) -> OptionInfo:
    least, most, help_ = (str(row[column] or "") for column in ("min_val", "max_val", "short_desc"))
    kind, choices = _TYPES.get(str(row["vartype"]), "text"), tuple(map(str, row["enumvals"] or ()))
    return OptionInfo(name, kind, str(row["setting"]), help_, least, most, choices)


def since(connection: Connection) -> ServerStart:
    """Ask the process that answers: it is a child of the server's."""
    (row,) = connection.query(_SINCE)
    return ServerStart(float(row["seconds"]), int(row["pid"]), None if row["data"] is None else str(row["data"]))


def compared(connection: Connection, options: Mapping[str, Value]) -> Effective:
    rows = _settings(connection)
    return Effective({name: str(row["shown"]) for name, row in rows.items()}, dict(_differences(options, rows)))


def _differences(options: Mapping[str, Value], rows: Mapping[str, ServerRow]) -> Iterator[tuple[str, str]]:
    for name, option in options.items():
        row, value = rows.get(name), (("on" if option else "off") if isinstance(option, bool) else str(option))
        if row is not None and not is_same_value(value, row):
            yield name, f"it is {row['shown'] or 'empty'} in the running server, and not {value} as asked for"


def is_same_value(text: str, row: ServerRow) -> bool:
    """Compare as text, as booleans, or as amounts in whatever unit."""
    setting, unit = str(row["setting"]), str(row["unit"] or "")
    if text.lower() in (setting.lower(), str(row["shown"]).lower()):
        return True
    if row["vartype"] == "bool":
        return _BOOLEANS.get(text.lower()) == _BOOLEANS.get(setting.lower())
    wanted = amount(text, unit)
    return wanted is not None and wanted == amount(setting, unit)


def amount(text: str, unit: str) -> float | None:
    """Convert to bytes or milliseconds, where there are units. `unit`: of a number without one; it may be 8kB."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return None
    number, suffix = float(match[1]), match[2]
    if suffix:
        return number * _UNITS[suffix] if suffix in _UNITS else None
    base = _AMOUNT.fullmatch(unit)
    times, name = (float(base[1]), base[2]) if base else (1.0, unit)
    return number * times * _UNITS.get(name, 1.0)
