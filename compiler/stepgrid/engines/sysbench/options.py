"""The options that sysbench and its workloads name: `--threads=N   number of threads to use [1]`."""

from __future__ import annotations

import re

from stepgrid.plugins.engine import OptionInfo

_LINE = re.compile(
    r"^  --(?P<name>[A-Za-z][\w-]*)(?P<argument>\[=on\|off\]|=\S+)? +(?P<help>.*?)(?: ?\[(?P<default>[^][]*)\])?$"
)
_TYPES = {"=N": "number", "=SIZE": "size", "[=on|off]": "bool"}


def options(text: str) -> dict[str, OptionInfo]:
    """Names with underscores: sysbench takes both."""
    found = (_option(match) for match in map(_LINE.match, text.splitlines()) if match)
    return {option.name: option for option in found}


def _option(match: re.Match[str]) -> OptionInfo:
    name = match["name"].replace("-", "_")
    return OptionInfo(name, _type(match["argument"] or "", match["help"]), match["default"] or "", match["help"])


def _type(argument: str, text: str) -> str:
    if argument.startswith("=["):
        return "list"
    return _TYPES.get(argument, "enum" if re.search(r"\{\w+(?:, ?\w+)+\}", text) else "text")
