"""The beginnings of records in the store: a status and times, without reading long files whole."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.store.store import Store

HEAD = 1000  # bytes that hold what comes before the lists in result.json and image.json
STATUSES = ("done", "unsupported")
_FIELD = re.compile(r'^ "(status|reason|started|ended|seconds|bytes)": (.+?),?$', re.MULTILINE)


def head(path: Path) -> dict[str, Any]:
    """The plain fields at the beginning of a record; those that cannot be read are not there."""
    try:
        with path.open("rb") as file:
            read = file.read(HEAD)
            if len(read) == HEAD:
                file.seek(-2, os.SEEK_END)
            last = file.read() or read
    except OSError:
        return {}
    if not last.rstrip().endswith(b"}"):
        return {}  # cut off
    text = read.decode(errors="replace")
    found: dict[str, Any] = {}
    for name, value in _FIELD.findall(text):
        try:
            found.setdefault(name, json.loads(value))
        except ValueError:
            continue
    return found


def catalogue(store: Store, build: str) -> Mapping[str, Any] | None:
    """The options of a build's programs; None when it cannot tell."""
    try:
        found: dict[str, Any] = json.loads((store.build(build) / "catalogue.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found
