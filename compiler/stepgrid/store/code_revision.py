"""Which code makes a summary: its content, so that a parser's fix collects again although nobody raised a number."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

from stepgrid.model.package_data import PACKAGE, TEMPLATES

PARTS = ("model", "plugins", "drivers", "collectors", "collect", "layouts", "store/status", "summarize")
LENGTH = 12
GIVEN = "STEPGRID_REVISION"  # what the run that started a job asks for: the code may be edited during a run


@cache
def revision() -> str:
    if given := os.environ.get(GIVEN):
        return given
    sources = [path for part in PARTS for path in (PACKAGE / part).rglob("*.py")]
    sources += [path for path in (TEMPLATES / "report").rglob("*") if path.is_file()]
    return digest(PACKAGE.parents[1], sources)


def digest(root: Path, sources: list[Path]) -> str:
    """Of names and contents."""
    found = hashlib.sha256()
    for path in sorted(sources):
        found.update(f"{path.relative_to(root)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:LENGTH]
