"""The beginnings of long records, result.json and image.json: a status, times, sizes."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

HEAD = 1000  # bytes that hold what comes before the lists in result.json and image.json
_FIELD = re.compile(r'^ "(status|reason|started|ended|seconds|waited|bytes)": (.+?),?$', re.MULTILINE)


def head(path: Path | str) -> dict[str, Any]:
    """The plain fields at the beginning of a record; those that cannot be read are not there."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - of ten thousand
            read = file.read(HEAD)
            if len(read) == HEAD:
                file.seek(-2, os.SEEK_END)
            last = file.read() or read
    except OSError:
        return {}
    if not last.rstrip().endswith(b"}"):
        return {}  # cut off
    found: dict[str, Any] = {}
    for name, value in _FIELD.findall(read.decode(errors="replace")):
        try:
            found.setdefault(name, json.loads(value))
        except ValueError:
            continue
    return found
