"""What holds a movable source still: a program on this machine may change without its path or version changing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compiler.language import witness

MISSING = "not found"


def key(source: Mapping[str, Any]) -> str:
    """What a lock file calls a source: `git https://… v1.0`. Of a source whose values are complete."""
    return " ".join(str(value) for value in source.values() if not isinstance(value, Mapping))


def pin(source: Mapping[str, Any]) -> str:
    """The content of a system program; other sources name exactly what they mean."""
    if "system" not in source:
        return ""
    program = str(source["system"])
    found = _content(program)
    witness.saw_program(program, found)
    return found


def _content(program: str) -> str:
    import shutil

    found = shutil.which(program)
    if found is None:
        return MISSING  # its build says so; a program that is installed later is another build
    with Path(found).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
