"""How a binary was compiled, read from the binary: what was asked of the build system may not be what it did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from stepgrid.build.compilation.elf import SWITCHES, read_elf, strings
from stepgrid.model.plan import Json

_UNKNOWN = "unknown"


def codegen(path: Path) -> dict[str, Json]:
    """Compiler, optimisation and -march, for a build's quality; before it is stripped."""
    elf = read_elf(path)
    lines = strings(path, SWITCHES) if elf else ()
    return {
        "architecture": elf.architecture if elf else _UNKNOWN,
        "compiler": elf.compiler if elf else _UNKNOWN,
        "optimisation": _each(lines, r"-O(?:[0-3gsz]|fast)?"),
        "march": _each(lines, r"-march=(\S+)"),
    }


def published(path: Path) -> dict[str, Json]:
    """The same of a binary whose options nobody tells. Its newest compiler: older ones made its start-up code."""
    elf = read_elf(path)
    compilers = [found[1] for text in elf.compilers if (found := re.search(r"(\d+\.\d+\.\d+)", text))] if elf else []
    newest = max(compilers, key=lambda text: [int(part) for part in text.split(".")], default=None)
    return {
        "architecture": elf.architecture if elf else _UNKNOWN,
        "compiler": f"GCC {newest}" if newest else _UNKNOWN,
        "optimisation": "as published",
        "march": "as published",
    }


def _each(lines: Sequence[str], pattern: str) -> str:
    """The value that counts in each unit's line is its last; units may differ."""
    found = {words[-1] for line in lines if (words := re.findall(rf"(?<=\s){pattern}(?=\s|$)", line))}
    return " + ".join(sorted(found)) or _UNKNOWN
