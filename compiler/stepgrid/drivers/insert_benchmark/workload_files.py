"""The Lua files of a step, from templates/insert_benchmark, and the clock that they share with sysbench's workloads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from stepgrid.model.package_data import TEMPLATES

FOLDER = TEMPLATES / "insert_benchmark"
CLOCK = TEMPLATES / "sysbench" / "clock.lua"
MAIN = "insert_benchmark.lua"


@cache
def files() -> Mapping[str, str]:
    """Name -> text."""
    return MappingProxyType(
        {path.name: path.read_text(encoding="utf-8") for path in (*sorted(FOLDER.glob("*.lua")), CLOCK)}
    )
