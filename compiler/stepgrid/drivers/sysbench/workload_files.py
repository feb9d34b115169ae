"""The files of a workload: its own, and those of templates/sysbench that they require."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import PurePath
from typing import Any

from stepgrid.package import TEMPLATES

FOLDER = TEMPLATES / "sysbench"
OWN = "own.lua"  # what runs a file of somebody's own
MAIN = "main.lua"
AGAIN = "again.lua"  # what a load on a server that ran before is run by

_REQUIRED = re.compile(r"""\brequire\s*\(?\s*["'](\w+)["']""")


def script(lua: str) -> str:
    return MAIN if is_own(lua) else f"{lua}.lua"


def is_own(lua: str) -> bool:
    return lua.endswith(".lua")


def is_taken(lua: str) -> bool:
    """Check whether a file that comes with the workloads has this name."""
    name = PurePath(lua).name
    return is_own(lua) and (name == MAIN or (FOLDER / name).exists())


def files(lua: str, read_own: Callable[[str], str], arguments: Mapping[str, Any] = {}) -> Mapping[str, str]:
    """Give texts by name; `read_own` reads a file that the spec brings, which gets these arguments."""
    if not is_own(lua):
        return shipped_files(lua)
    name, text = PurePath(lua).name, read_own(lua)
    return _with_required({MAIN: f'require("own")("{name}")\n{_declared(arguments, text)}', name: text})


def _declared(arguments: Mapping[str, Any], text: str) -> str:
    """Declare the options that the file does not: sysbench refuses one that no file declares."""
    names = {name: name.replace("-", "_") for name in arguments}
    lacking = {
        names[name]: value
        for name, value in arguments.items()
        if not re.search(rf"""\b{names[name]}["']?\]?\s*=\s*\{{""", text)
    }
    # a number or a boolean stays one by its default; JSON's are Lua's
    lines = (f"options.{name} = options.{name} or {{'', {json.dumps(value)}}}\n" for name, value in lacking.items())
    return "local options = sysbench.cmdline.options\n" + "".join(lines) if lacking else ""


def again() -> Mapping[str, str]:
    """Give the file alone: the load brings what it needs."""
    return {AGAIN: _text(AGAIN)}


@cache
def shipped_files(lua: str) -> Mapping[str, str]:
    return _with_required({f"{lua}.lua": _text(f"{lua}.lua")})


def _with_required(files: dict[str, str]) -> Mapping[str, str]:
    """Add the modules that files require, except those that sysbench brings, such as oltp_common."""
    unread = list(files.values())
    while unread:
        for module in _REQUIRED.findall(unread.pop()):
            name = f"{module}.lua"
            if name not in files and (FOLDER / name).exists():
                files[name] = _text(name)
                unread.append(files[name])
    return files


@cache
def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
