"""The Lua files of a client that is no workload of sysbench's: its own folder, and what clients share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from stepgrid.model.package_data import TEMPLATES

SHARED = TEMPLATES / "clients"
CLOCK = TEMPLATES / "sysbench" / "clock.lua"
REPORTER = 1  # thread of a client, beside those that send statements
SEARCH: Mapping[str, str] = {"LUA_PATH": "./?.lua;;"}  # a step runs in its own folder


@cache
def files(folder: Path) -> Mapping[str, str]:
    """Name -> text."""
    paths = (*sorted(folder.glob("*.lua")), *sorted(SHARED.glob("*.lua")), CLOCK)
    return MappingProxyType({path.name: path.read_text(encoding="utf-8") for path in paths})
