"""The engine's own log, LOG: which code it is, and the options that it really runs with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from stepgrid.host.file_reader import content

NAME = "LOG"
HEAD = 2**18  # bytes: options stand at the beginning, and take some 30 KiB

_FACTS = {
    "engine_version": r"(?:RocksDB|Speedb) version: (\S+(?: \(.+\))?)$",
    "git_sha": r"Git sha (?:rocksdb_build_git_sha:)?@?([0-9a-f]{6,}\S*?)@?$",
    "compiled": r"Compile (?:date|time) (.+)$",
}
_FAMILY = re.compile(r"--- Options for column family \[(.+?)\]")
_OPTION = re.compile(r"\bOptions\.([\w.\[\]]+) *: ?(.*)$")
_OF_TABLES = re.compile(r"^  +(\w+) ?: ?(.*)$")
_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")
_DEFAULT = "default"
_TABLES = "table_factory options"


def facts(folder: Path) -> dict[str, str]:
    """Nothing, of a step whose log was not kept."""
    try:
        text = content(f"{folder}/{NAME}", HEAD).decode(errors="replace")
    except OSError:
        return {}
    found = {name: re.search(pattern, text, re.MULTILINE) for name, pattern in _FACTS.items()}
    known = {name: said for name, match in found.items() if match and (said := match[1].strip())}
    if used := options(text):
        known["options"] = json.dumps(used, sort_keys=True)
    return known


def options(text: str) -> dict[str, str]:
    """Of the database and its default column family, as the engine writes them when it opens; the first counts."""
    found: dict[str, str] = {}
    for name, value in _pairs(text):
        if value and not _ADDRESS.search(value):  # an address is another one in every run
            found.setdefault(name, value)
    return found


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    family, tables = _DEFAULT, False
    for line in text.splitlines():
        if begins := _FAMILY.search(line):
            family = begins[1]
        if family != _DEFAULT:
            continue
        option, own = _OPTION.search(line), _OF_TABLES.match(line)
        if option:
            tables = False
            yield option[1], option[2].strip()
        elif _TABLES in line or (tables and own):
            tables = True
            inner = own or _OF_TABLES.match("  " + line.partition(_TABLES)[2].lstrip(" :"))
            if inner:
                yield inner[1], inner[2].strip()
