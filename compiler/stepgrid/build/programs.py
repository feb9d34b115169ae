"""How the programs of a published build are started: what a runner reads of its record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.host.files import sha256

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


# Whether the binaries of the `system` source are still those that were recorded.


def changed(folder: Path) -> str | None:
    """A sentence when a recorded binary of a published build is not what it was; cheap when nothing was touched."""
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    for file in record.get("facts", {}).get("files", {}).values():
        if not _same(file):
            remedy = "run the same command again, and the binary that is there now is measured as a build of its own"
            return f"{file['path']} is not the binary that build {record['name']} recorded: {remedy}"
    return None


def _same(file: Mapping[str, Any]) -> bool:
    path = Path(file["path"])
    try:
        status = path.stat()
        touched = (status.st_size, status.st_mtime_ns) != (file["bytes"], file["modified"])
        return not touched or sha256(path) == file["sha256"]
    except OSError:
        return False
