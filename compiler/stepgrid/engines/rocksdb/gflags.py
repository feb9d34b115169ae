"""The options that a program built on gflags names in its --help."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stepgrid.plugins.engine import OptionInfo

_FILE = re.compile(r"^  Flags from (.+):$")
_FLAG = re.compile(
    r"^-(?P<name>\w+) \((?P<help>.*)\) type: (?P<type>\w+) default: (?P<default>.*?)(?: currently: .*)?$", re.DOTALL
)


def options(text: str, other_files: re.Pattern[str]) -> dict[str, OptionInfo]:
    """Of every source file that the pattern does not match."""
    found = (_option(entry) for file, entry in _entries(text) if not other_files.search(file))
    return {item.name: item for item in found if item is not None}


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """gflags wraps an entry at 80 columns, indented: it is joined again. Gives (source file, entry)."""
    file, entry = "", ""
    for line in [*text.splitlines(), ""]:
        heading = _FILE.match(line)
        begins = line.startswith("    -")
        if (heading or begins or not line.strip()) and entry and _FLAG.match(entry):
            yield file, entry
            entry = ""
        if heading:
            file, entry = heading[1], ""
        elif begins:
            entry = line.strip()
        elif entry and line.strip():
            entry = f"{entry} {line.strip()}"


def _option(entry: str) -> OptionInfo | None:
    match = _FLAG.match(entry)
    if not match:
        return None
    default = match["default"]
    if match["type"] == "string":
        default = default.removeprefix('"').removesuffix('"')
    return OptionInfo(match["name"], match["type"], default, match["help"])
