"""A connection to mysqld or mariadbd, and what a running server says of itself: version, settings, counters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from stepgrid.model.plan import Value
from stepgrid.plugins.engine import IdentityError, OptionInfo
from stepgrid.plugins.server import Access, Connection, Effective, ServerDescription, ServerRow, ServerStart
from stepgrid.plugins.statements import INDEX
from stepgrid_databases.engines.mysqld.options import identity

if TYPE_CHECKING:
    import pymysql

_GREETING_SECONDS = 10  # seconds for the greeting: a server that is halted takes connections and says nothing
_NOT_READY = (1040, 1053, 2002, 2003, 2013)  # too many connections, shutting down, no socket, nobody there, gone

# A variable of the session: other databases of this server are somebody else's. What lists tables goes by it.
OTHERS = "@stepgrid_others"
OWN_TABLES = f"({OTHERS} IS NULL OR table_schema = DATABASE())"


class MysqldConnection:
    def __init__(self, connection: pymysql.Connection[Any]) -> None:
        self.client = connection

    def query(self, sql: str) -> list[ServerRow]:
        with self.client.cursor() as cursor:
            cursor.execute(sql)
            rows = list(cursor.fetchall()) if cursor.description else []
            while cursor.nextset():  # a procedure gives several results
                rows = list(cursor.fetchall()) if cursor.description else rows
        return cast("list[ServerRow]", rows)

    def close(self) -> None:
        self.client.close()


def connect(access: Access) -> MysqldConnection:
    """Connect through the socket; to a server that ran before also by host and port."""
    import pymysql  # slow to import
    from pymysql.cursors import DictCursor

    address: dict[str, Any] = {"unix_socket": str(access.socket)}
    if access.host:
        address = {"host": access.host, "port": access.port}
    try:
        client = pymysql.connect(
            **address,
            user=access.user,
            password=access.password,
            database=access.database,
            charset="utf8mb4",
            autocommit=True,
            cursorclass=DictCursor,
            connect_timeout=_GREETING_SECONDS,
            read_timeout=_GREETING_SECONDS,
            # no TLS at a socket; and where clients are elsewhere, it is theirs that counts: see tls_counter
            ssl_disabled=not access.host or bool(access.listen),
        )
    except pymysql.err.OperationalError as error:
        if error.args and error.args[0] in _NOT_READY:
            raise ConnectionError(str(error.args[-1])) from None
        raise
    client._read_timeout = None  # from here on a statement may take as long as it takes
    connection = MysqldConnection(client)
    if access.running:
        connection.query(f"SET {OTHERS} = 'not ours'")
    return connection


def variables(connection: Connection) -> dict[str, str]:
    return {str(row["Variable_name"]).lower(): _text(row["Value"]) for row in connection.query("show global variables")}


def named_variables(connection: Connection, names: Iterable[str]) -> dict[str, str]:
    """Read those of some variables that the server has, in the order of the names."""
    listed = ", ".join(f"'{name}'" for name in names)
    rows = connection.query(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({listed})")
    values = {str(row["Variable_name"]).lower(): str(row["Value"]) for row in rows}
    return {name: values[name] for name in names if name in values}


def named_counters(connection: Connection, names: Iterable[str]) -> dict[str, float]:
    listed = ", ".join(f"'{name}'" for name in names)
    rows = connection.query(f"SHOW GLOBAL STATUS WHERE Variable_name IN ({listed})")
    return {str(row["Variable_name"]): float(row["Value"]) for row in rows}


def counters(connection: Connection) -> dict[str, float]:
    """Read the status variables that are numbers."""
    values: dict[str, float] = {}
    for row in connection.query("show global status"):
        with suppress(ValueError):  # a version, a list, a word
            values[str(row["Variable_name"])] = float(row["Value"])
    return values


_NO_PLAN = ("no matching row", "impossible where", "const row not found")  # they depend on the values


def explain(connection: Connection, sql: str) -> list[str]:
    """List the accesses to tables; `Using where` says nothing of them."""
    nodes = []
    for row in connection.query(f"EXPLAIN {sql}"):
        extra = [part for part in str(row["Extra"] or "").split("; ") if part and part != "Using where"]
        if any(part.lower().startswith(_NO_PLAN) for part in extra):
            return []
        key, table = (f" using {row['key']}" if row["key"] else ""), (f" on {row['table']}" if row["table"] else "")
        details = f" ({'; '.join(extra)})" if extra else ""
        nodes.append(f"{row['type'] or row['select_type']}{key}{table}{details}")
    return nodes


def index_definitions(connection: Connection, names: Sequence[str]) -> dict[str, str]:
    quoted = ", ".join("'{}'".format(name.replace("'", "''")) for name in names)
    rows = connection.query(
        "SELECT index_name AS name, table_name AS owner, "
        "group_concat(column_name ORDER BY seq_in_index SEPARATOR ', ') AS names "
        f"FROM information_schema.statistics WHERE table_schema = DATABASE() AND index_name IN ({quoted}) "
        "GROUP BY index_name, table_name"
    )
    return {f"{INDEX}{row['name']} of {row['owner']}": f"({row['names']})" for row in rows}


def described(connection: Connection, engine: str) -> ServerDescription:
    """Describe a server that ran before. Types of its variables are unknown: values are not checked, but compared."""
    values = variables(connection)
    version, comment = values.get("version", ""), values.get("version_comment", "")
    match = re.match(r"(?P<version>\d+(?:\.\d+)+)(?P<suffix>\S*)", version)
    kind = "mariadb" if "mariadb" in f"{version} {comment}".lower() else "mysql"
    if match is None or kind != engine:
        name = {"mysql": "MySQL", "mariadb": "MariaDB"}[kind]
        raise IdentityError(f"it is {name} {version or 'of no version'}, and the build's engine is {engine}")
    host = " on ".join(values[name] for name in ("version_compile_os", "version_compile_machine") if name in values)
    facts = {"said": " ".join(filter(None, (version, comment))), "for": host}
    options = {name: OptionInfo(name, "", value, "") for name, value in values.items()}
    return ServerDescription(identity(match["version"], match["suffix"], facts), options)


def since(connection: Connection) -> ServerStart:
    (row,) = connection.query("SHOW GLOBAL STATUS LIKE 'Uptime'")
    values = named_variables(connection, ("pid_file", "datadir"))
    data, pid = values.get("datadir"), None
    if "pid_file" in values:
        with suppress(OSError, ValueError):  # a server of another machine
            pid = int(Path(data or "/", values["pid_file"]).read_text(encoding="utf-8"))
    return ServerStart(float(row["Value"]), pid, data)


# Comparison of settings with what a spec asks for: the server clamps a value, or ignores it, and only tells its log.

_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "e": 2**60}
_BOOLEANS = {"on": "1", "true": "1", "yes": "1", "off": "0", "false": "0", "no": "0"}


def effective(connection: Connection, options: Mapping[str, Value]) -> Effective:
    values = variables(connection)
    return Effective(values, dict(_differences(options, values)))


def _differences(options: Mapping[str, Value], values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, option in options.items():
        variable, wanted = name.replace("-", "_").lower().removeprefix("loose_"), _text(option)
        if variable.startswith("skip_") and variable not in (
            "skip_networking", "skip_name_resolve", "skip_show_database",
        ):  # fmt: skip
            variable, wanted = variable.removeprefix("skip_"), "0" if _plain(wanted) == "1" else "1"
        value = values.get(variable)
        if value is not None and not is_same_value(wanted, value):
            yield name, f"it is {value or 'empty'} in the running server, and not {_text(option)} as asked for"


def is_same_value(wanted: str, value: str) -> bool:
    """Compare words, numbers and flags: `1M` is 1048576, `ON` is 1; a path may have become an absolute one."""
    if _plain(wanted) == _plain(value):
        return True
    number, other_number = _number(wanted), _number(value)
    if number is not None and other_number is not None:
        return number == other_number
    flags, other_flags = ({part.strip() for part in text.lower().split(",")} for text in (wanted, value))
    if flags == other_flags or ("=" in value and flags <= other_flags):  # optimizer_switch: all of them are shown
        return True
    if value.rstrip("/").endswith("/" + wanted.rstrip("/").removeprefix("./")):
        return True
    # log_bin is asked for by a name, and then is ON
    return value in ("ON", "1") and number is None and wanted.lower() not in _BOOLEANS


def _plain(text: str) -> str:
    return _BOOLEANS.get(text.lower(), text.lower())


def _number(text: str) -> float | None:
    scale = _UNITS.get(text[-1:].lower(), 1)
    try:
        return float(text[:-1] if scale > 1 else text) * scale
    except ValueError:
        return None


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return ("ON" if value else "OFF") if isinstance(value, bool) else str(value)
