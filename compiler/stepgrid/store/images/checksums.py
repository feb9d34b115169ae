"""Checksums of an image: small files in full, samples of the rest, as reading a large database takes long."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from stepgrid.host.files import Tree
from stepgrid.host.page_cache import resident_bytes

DIGEST = partial(hashlib.blake2b, digest_size=20)
LIMIT = 1 << 30  # bytes of an image that are read in full, where nobody asks for more
BLOCK, BLOCKS = 1 << 14, 4  # of a sample: bytes, and how many of them, from the file's start to its end


def sums_of(root: Path, tree: Tree, limit: float = float("inf")) -> dict[str, str]:
    """By name, the smallest files first, while no more than `limit` bytes are read."""
    found: dict[str, str] = {}
    for name, size in sorted(tree.files.items(), key=lambda entry: (entry[1], entry[0])):
        limit -= size
        if limit < 0:
            break
        found[name] = sum_of(root / name)
    return found


def samples_of(root: Path, names: Iterable[str]) -> dict[str, str]:
    return {name: sample_of(root / name) for name in names}


def sum_of(path: Path) -> str:
    """The page cache is left as it was found where it held nothing of the file: steps are measured with it."""
    cached = resident_bytes(path)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, DIGEST).hexdigest()
        if cached == 0:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return found


def sample_of(path: Path) -> str:
    found, last = DIGEST(), max(path.stat().st_size - BLOCK, 0)
    with path.open("rb") as file:
        for number in range(BLOCKS):
            found.update(os.pread(file.fileno(), BLOCK, last * number // (BLOCKS - 1)))
    return found.hexdigest()


def first_wrong(root: Path, sums: Mapping[str, str], samples: Mapping[str, str] | None = None) -> str | None:
    """A sentence about the first file that is not what it was."""
    for name, expected in sorted({**(samples or {}), **sums}.items()):
        try:
            read = sum_of if name in sums else sample_of
            if read(root / name) != expected:
                return f"{name} is not what was saved: its checksum differs"
        except OSError as error:
            return f"{name} cannot be read: {error.strerror}"
    return None
