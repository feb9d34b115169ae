"""The Lua files of a step, from templates/linkbench, and those that it shares with other clients."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from stepgrid.model.package_data import TEMPLATES

FOLDER = TEMPLATES / "linkbench"
SHARED = (
    *(TEMPLATES / "clients" / f"{name}.lua" for name in ("random_words", "sender", "shared_memory")),
    TEMPLATES / "sysbench" / "clock.lua",
)
MAIN = "linkbench.lua"


@cache
def files() -> Mapping[str, str]:
    """Name -> text."""
    return MappingProxyType(
        {path.name: path.read_text(encoding="utf-8") for path in (*sorted(FOLDER.glob("*.lua")), *SHARED)}
    )
