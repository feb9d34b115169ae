"""The options that mysqld and mariadbd name in `--verbose --help`: what each is, then a table of the values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stepgrid.plugins.engine import OptionInfo

# in a default, in place of what differs from machine to machine
BASE, HOST = "{basedir}", "{hostname}"

_ENTRY = re.compile(
    r"^  (?:-\S, )?--(?P<name>[A-Za-z][\w.-]*)(?P<argument>\[=(?:#|name)\]|=(?:#|name))?(?: +(?P<help>\S.*)| ?)$"
)
_VARIABLES, _RULE = "Variables (--variable-name=value)", "-----"
_NONE = "(No default value)"
_PID_FILE = re.compile(r"(?:.*/)?([^/]+)\.pid")


class _Entry(NamedTuple):
    name: str
    argument: str
    help: str


def options(text: str) -> dict[str, OptionInfo]:
    """By the names that option files have, with underscores; prefixes such as skip_ and loose_ are no options."""
    described, _, table = text.partition(_VARIABLES)
    values = _values(table)  # has more names, of variables that are no options
    here = _here(values)
    return {entry.name: _option(entry, values.get(entry.name, ""), here) for entry in _entries(described)}


def _here(values: Mapping[str, str]) -> list[tuple[re.Pattern[str], str]]:
    """What the defaults say of this machine, and what stands in its place."""
    base, named = values.get("basedir", "").rstrip("/"), _PID_FILE.fullmatch(values.get("pid_file", ""))
    found = [(re.compile(rf"^{re.escape(base)}(?=/)"), BASE)] if base else []
    return [*found, (re.compile(rf"(?<![^/]){re.escape(named[1])}(?=[.-]|$)"), HOST)] if named else found


def _entries(text: str) -> Iterator[_Entry]:
    """What follows an entry on lines that are further indented belongs to it."""
    entry: _Entry | None = None
    for line in text.splitlines():
        if match := _ENTRY.match(line):
            if entry:
                yield entry
            entry = _Entry(_name(match["name"]), match["argument"] or "", (match["help"] or "").strip())
        elif entry and line.startswith("      "):
            entry = entry._replace(help=f"{entry.help} {line.strip()}".strip())
    if entry:
        yield entry


def _values(table: str) -> dict[str, str]:
    """Of two values of one name the last counts: a plugin and its own option may share a name."""
    found: dict[str, str] = {}
    lines = iter(table.splitlines())
    for line in lines:
        if line.startswith(_RULE):
            break
    for line in lines:
        if not line.strip():
            break
        name, _, value = line.partition(" ")
        found[_name(name)] = value.strip()
    return found


def _name(text: str) -> str:
    return text.replace("-", "_")


def _option(entry: _Entry, value: str, here: Sequence[tuple[re.Pattern[str], str]]) -> OptionInfo:
    default = "" if value == _NONE or entry.name == "basedir" else value
    kind = _type(entry)
    for pattern, name in here if kind == "text" else ():
        default = pattern.sub(name, default)
    named = choices(entry.help, default) if kind == "enum" else ()
    return OptionInfo(entry.name, kind, default, entry.help, choices=named)


def _type(entry: _Entry) -> str:
    """As far as it is told."""
    if not entry.argument:
        return "bool"
    if "#" in entry.argument:
        return "number"  # with a suffix K, M, G …, and of some with a fraction
    if re.search(r"\b[Aa]ny combination of", entry.help):
        return "set"
    return "enum" if re.search(r"\bOne of: |\b[Pp]ossible values (?:are|for)", entry.help) else "text"


# The names of an enumeration, as far as the help of mysqld and mariadbd lists them.

_ALL = re.compile(r"\bOne of: (.+)$")  # MariaDB writes it itself: all that it takes
_SAID = re.compile(r"\bPossible values are:? ([^;]+?)(?:; default is \w+)?\.?$")  # somebody's words
_ASIDE = re.compile(r"\s*\([^()]*\)")
_NEXT = re.compile(r",? (?:and|or) |, ")
_NAME = re.compile(r"[A-Za-z][\w-]*")
_PLUGIN = "FORCE"  # whoever takes it also takes FORCE_PLUS_PERMANENT, which MySQL does not list


def choices(help_: str, default: str) -> tuple[str, ...]:
    """None where the list is not clear, or does not even have the default."""
    every = _ALL.search(help_)
    match = every or _SAID.search(help_)
    if match is None:
        return ()
    names = tuple(_NEXT.split(_ASIDE.sub("", match[1]).rstrip(".")))
    plain = all(_NAME.fullmatch(name) for name in names)
    whole = bool(every) or _PLUGIN not in names
    return names if plain and whole and default.lower() in (name.lower() for name in names) else ()
