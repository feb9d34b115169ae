"""Which code makes a summary: its content, so that a parser's fix collects again although nobody raised a number."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from stepgrid.model.package_data import PACKAGE, TEMPLATES
from stepgrid.plugins.registry import COLLECTORS, DRIVERS, LAYOUTS, foreign_packages

PARTS = ("model", "plugins", "drivers", "collectors", "collect", "layouts", "store/status", "summarize")
LENGTH = 12
GIVEN = "STEPGRID_REVISION"  # what the run that started a job asks for: the code may be edited during a run


@cache
def revision() -> str:
    if given := os.environ.get(GIVEN):
        return given
    sources = [path for part in PARTS for path in (PACKAGE / part).rglob("*.py")]
    sources += [path for path in (TEMPLATES / "report").rglob("*") if path.is_file()]
    own = digest(PACKAGE.parents[1], sources)
    others = foreign_packages(DRIVERS, COLLECTORS, LAYOUTS)
    return with_others(own, others) if others else own


def with_others(own: str, others: Mapping[str, Iterable[Path]]) -> str:
    """With the versions and the contents of other packages."""
    found = hashlib.sha256(own.encode())
    for package, folders in others.items():
        found.update(package.encode())
        for folder in sorted(folders):
            found.update(digest(folder.parent, [*folder.rglob("*.py")] if folder.is_dir() else [folder]).encode())
    return found.hexdigest()[:LENGTH]


def digest(root: Path, sources: list[Path]) -> str:
    """Of names and contents."""
    found = hashlib.sha256()
    for path in sorted(sources):
        found.update(f"{path.relative_to(root)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:LENGTH]
