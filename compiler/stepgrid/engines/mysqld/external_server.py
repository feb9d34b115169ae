"""What a mysqld or mariadbd that already runs says of itself: which release, which settings, since when."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from stepgrid.engines.mysqld import binary
from stepgrid.engines.mysqld.effective_settings import variables
from stepgrid.plugins.engine import Identity, IdentityError, OptionInfo
from stepgrid.plugins.server import Connection, Described, Since

_VERSION = re.compile(r"(?P<version>\d+(?:\.\d+)+)(?P<suffix>\S*)")
_NAMES = {"mysql": "MySQL", "mariadb": "MariaDB"}


def described(connection: Connection, engine: str) -> Described:
    """Of a variable's kind it says little that all releases agree on: values are not checked, but compared."""
    values = variables(connection)
    said, comment = values.get("version", ""), values.get("version_comment", "")
    match = _VERSION.match(said)
    found = "mariadb" if "mariadb" in f"{said} {comment}".lower() else "mysql"
    if match is None or found != engine:
        raise IdentityError(f"it is {_NAMES[found]} {said or 'of no version'}, and the build's engine is {engine}")
    marks = re.findall(r"[a-z]+", match["suffix"].lower())
    place = " on ".join(values[name] for name in ("version_compile_os", "version_compile_machine") if name in values)
    facts = {"said": " ".join(filter(None, (said, comment))), "for": place}
    identity = Identity(match["version"], binary.slowed(marks), "debug" in marks, facts)
    return Described(identity, {name: OptionInfo(name, "", value, "") for name, value in values.items()})


def since(connection: Connection) -> Since:
    (row,) = connection.query("SHOW GLOBAL STATUS LIKE 'Uptime'")
    named = "'pid_file', 'datadir'"
    rows = connection.query(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({named})")
    values = {str(row["Variable_name"]).lower(): str(row["Value"]) for row in rows}
    data = values.get("datadir")
    return Since(float(row["Value"]), _pid(data, values.get("pid_file")), data)


def _pid(data: str | None, name: str | None) -> int | None:
    """As a file of this name says here, where there is one."""
    if name is None:
        return None
    with suppress(OSError, ValueError):
        return int(Path(data or "/", name).read_text(encoding="utf-8"))
    return None
