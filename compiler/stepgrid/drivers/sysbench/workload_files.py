"""The files of a workload: its own, and what they need of the others in templates/sysbench."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import PurePath

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


def files(lua: str, own: Callable[[str], str]) -> Mapping[str, str]:
    """Name -> text; `own` gives that of a file of somebody's own."""
    if not is_own(lua):
        return _known(lua)
    name = PurePath(lua).name
    return _with_required({MAIN: f'require("own")("{name}")\n', name: own(lua)})


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
