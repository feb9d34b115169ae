"""The options that a program built on gflags names in its --help."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stepgrid.plugins.engine import OptionInfo
from stepgrid.plugins.option_values import outside

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


_WHOLE = re.compile(r"[+-]?(\d+|0[xX][0-9a-fA-F]+)")
_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf", re.IGNORECASE)
_RANGES: Mapping[str, tuple[int, int]] = {
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}


def number_fault(kind: str, text: str) -> str | None:
    """Why it is no value of this type; None also of a type that holds no numbers."""
    if kind not in (*_RANGES, "double"):
        return None
    if not (_REAL if kind == "double" else _WHOLE).fullmatch(text):
        return f"takes a number ({kind}), not `{text}`{_advice(text)}"
    if kind == "double":
        return None
    least, most = _RANGES[kind]
    return None if least <= int(text, 0 if "x" in text.lower() else 10) <= most else outside(kind, least, most, text)


def _advice(text: str) -> str:
    if size := re.fullmatch(r"(\d+)\s*([KMGT])i?B?", text, re.IGNORECASE):
        return f"; did you mean `{size[1]}{size[2].upper()}iB`? sizes are written in KiB, MiB or GiB"
    if re.match(r"\d+\s*[A-Za-z]", text):
        return "; sizes are written in KiB, MiB or GiB"
    return "; a size has no sign" if re.match(r"[+-]\d+\s*[A-Za-z]", text) else ""
