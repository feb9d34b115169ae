"""What a running mysqld or mariadbd says of itself: its settings and counters, which release it is, since when."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stepgrid.engines.mysqld import binary
from stepgrid.plugins.engine import Identity, IdentityError, OptionInfo
from stepgrid.plugins.server import Connection, Effective, ServerDescription, ServerStart

_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "e": 2**60}
_BOOLEANS = {"on": "1", "true": "1", "yes": "1", "off": "0", "false": "0", "no": "0"}
_NEGATION = "skip_"


def effective(connection: Connection, asked: Mapping[str, Any]) -> Effective:
    """They clamp a value, or ignore it, and only tell their log."""
    values = variables(connection)
    return Effective(values, dict(_differences(asked, values)))


def variables(connection: Connection) -> dict[str, str]:
    return {str(row["Variable_name"]).lower(): _text(row["Value"]) for row in connection.query("show global variables")}


def counters(connection: Connection) -> dict[str, float]:
    """The status variables that are numbers."""
    found: dict[str, float] = {}
    for row in connection.query("show global status"):
        try:
            found[str(row["Variable_name"])] = float(row["Value"])
        except ValueError:  # a version, a list, a word
            continue
    return found


def _differences(asked: Mapping[str, Any], values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in asked.items():
        variable, wanted = _variable(name.replace("-", "_").lower(), _text(value))
        found = values.get(variable)
        if found is not None and not same(wanted, found):
            yield name, f"it is {found or 'empty'} in the running server, and not {_text(value)} as asked for"


def _variable(name: str, value: str) -> tuple[str, str]:
    """skip_log_bin is log_bin, turned round."""
    name = name.removeprefix("loose_")
    if name.startswith(_NEGATION) and name not in ("skip_networking", "skip_name_resolve", "skip_show_database"):
        return name.removeprefix(_NEGATION), "0" if plain(value) == "1" else "1"
    return name, value


def same(asked: str, found: str) -> bool:
    """In the end a word, a number or a flag: `1M` is 1048576, `ON` is 1; a path may have become an absolute one."""
    if plain(asked) == plain(found):
        return True
    one, other = _number(asked), _number(found)
    if one is not None and other is not None:
        return one == other
    flags = "=" in found and set(_parts(asked)) <= set(_parts(found))  # optimizer_switch: all of them are shown
    return flags or _is_path(asked, found) or set(_parts(asked)) == set(_parts(found))


def plain(text: str) -> str:
    return _BOOLEANS.get(text.lower(), text.lower())


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.lower().split(",")]


def _is_path(asked: str, found: str) -> bool:
    """log_bin is asked for by a name, and then is ON."""
    return found.rstrip("/").endswith("/" + asked.rstrip("/").removeprefix("./")) or (
        found in ("ON", "1") and _number(asked) is None and asked.lower() not in _BOOLEANS
    )


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


# What it is, of one that already runs.

_VERSION = re.compile(r"(?P<version>\d+(?:\.\d+)+)(?P<suffix>\S*)")
_NAMES = {"mysql": "MySQL", "mariadb": "MariaDB"}


def described(connection: Connection, engine: str) -> ServerDescription:
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
    return ServerDescription(identity, {name: OptionInfo(name, "", value, "") for name, value in values.items()})


def since(connection: Connection) -> ServerStart:
    (row,) = connection.query("SHOW GLOBAL STATUS LIKE 'Uptime'")
    named = "'pid_file', 'datadir'"
    rows = connection.query(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({named})")
    values = {str(row["Variable_name"]).lower(): str(row["Value"]) for row in rows}
    data = values.get("datadir")
    return ServerStart(float(row["Value"]), _pid(data, values.get("pid_file")), data)


def _pid(data: str | None, name: str | None) -> int | None:
    """As a file of this name says here, where there is one."""
    if name is None:
        return None
    with suppress(OSError, ValueError):
        return int(Path(data or "/", name).read_text(encoding="utf-8"))
    return None
