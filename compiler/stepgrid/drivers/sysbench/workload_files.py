"""The files of a workload: its own, and what they need of the others in templates/sysbench."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import PurePath
from typing import Any

from stepgrid.model.package_data import TEMPLATES

FOLDER = TEMPLATES / "sysbench"
OWN = "own.lua"  # what runs a file of somebody's own
MAIN = "main.lua"
AGAIN = "again.lua"  # what a load on a server that ran before is run by

_REQUIRED = re.compile(r"""\brequire\s*\(?\s*["'](\w+)["']""")


def script(lua: str) -> str:
    """What sysbench is told to run."""
    return MAIN if is_own(lua) else f"{lua}.lua"


def is_own(lua: str) -> bool:
    return lua.endswith(".lua")


def is_taken(lua: str) -> bool:
    """A file of this name is there already."""
    name = PurePath(lua).name
    return is_own(lua) and (name == MAIN or (FOLDER / name).exists())


def files(lua: str, own: Callable[[str], str], arguments: Mapping[str, Any] = {}) -> Mapping[str, str]:
    """Name -> text; `own` gives that of a file of somebody's own, which gets these arguments."""
    if not is_own(lua):
        return _known(lua)
    name, text = PurePath(lua).name, own(lua)
    return _with_required({MAIN: f'require("own")("{name}")\n{_declared(arguments, text)}', name: text})


def _declared(arguments: Mapping[str, Any], text: str) -> str:
    """sysbench refuses an option that no file declares: those that this one does not."""
    names = {name: name.replace("-", "_") for name in arguments}
    lacking = {names[name]: value for name, value in arguments.items() if not _declares(text, names[name])}
    # a number or a boolean stays one by its default; JSON's are Lua's
    lines = (f"options.{name} = options.{name} or {{'', {json.dumps(value)}}}\n" for name, value in lacking.items())
    return "local options = sysbench.cmdline.options\n" + "".join(lines) if lacking else ""


def _declares(text: str, name: str) -> bool:
    return re.search(rf"""\b{name}["']?\]?\s*=\s*\{{""", text) is not None


def again() -> Mapping[str, str]:
    """The file by itself: the load brings what it needs."""
    return {AGAIN: _text(AGAIN)}


@cache
def _known(lua: str) -> Mapping[str, str]:
    return _with_required({f"{lua}.lua": _text(f"{lua}.lua")})


def _with_required(found: dict[str, str]) -> Mapping[str, str]:
    """What only sysbench has, such as oltp_common, is found there."""
    left = list(found.values())
    while left:
        for module in _REQUIRED.findall(left.pop()):
            name = f"{module}.lua"
            if name not in found and (FOLDER / name).exists():
                found[name] = _text(name)
                left.append(found[name])
    return found


@cache
def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
