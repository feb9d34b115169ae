"""Checksums of an image, where somebody wants them: reading a large database takes longer than many a step."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from compiler.run.images.tree import Tree


def sums_of(root: Path, tree: Tree) -> dict[str, str]:
    return {name: sum_of(root / name) for name in tree.files}


def sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=20)).hexdigest()


def damaged(root: Path, sums: Mapping[str, str]) -> str | None:
    """A sentence about the first file that is not what it was."""
    for name, expected in sorted(sums.items()):
        try:
            if sum_of(root / name) != expected:
                return f"{name} is not what was saved: its checksum differs"
        except OSError as error:
            return f"{name} cannot be read: {error.strerror}"
    return None
