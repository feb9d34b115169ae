"""How the programs of a published build are started: what a runner reads of its record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

RECORD = "build.json"


def programs(folder: Path) -> dict[str, tuple[str, ...]]:
    """The argv prefix of each program, with absolute paths."""
    recorded: Mapping[str, list[str]] = json.loads((folder / RECORD).read_text(encoding="utf-8"))["programs"]
    return {name: absolute(folder, argv) for name, argv in recorded.items()}


def absolute(folder: Path, words: Sequence[str]) -> tuple[str, ...]:
    """A recorded argv prefix as it is run: options and absolute paths stay, the rest is below the build's folder."""
    return tuple(word if word.startswith("-") else _absolute(folder, word) for word in words)


def _absolute(folder: Path, word: str) -> str:
    return ":".join(str(folder.absolute() / part) for part in word.split(":"))  # a library path has several parts
