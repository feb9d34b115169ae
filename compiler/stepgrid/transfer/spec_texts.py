"""The texts that a plan was compiled from, for those who have the plan and not the checkout."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from stepgrid.language.input_record import Witness


def of(seen: Witness, site: str | None) -> dict[str, Path]:
    """Spec, includes, lock file, patches: by their paths below the folder that holds them all. Not the site file."""
    there = (path for path, digest in seen.files.items() if digest is not None and path != site)
    return _named({Path(os.path.abspath(path)) for path in there})  # noqa: PTH100 - a link keeps its name


def kept(folder: Path) -> dict[str, Path]:
    """Those that came with results of another checkout."""
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}


def _named(paths: Iterable[Path]) -> dict[str, Path]:
    found = sorted(paths)
    if not found:
        return {}
    root = os.path.commonpath([path.parent for path in found])
    return {str(path.relative_to(root)): path.resolve() for path in found}
