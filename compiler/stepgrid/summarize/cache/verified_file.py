"""A file of a cache: its first line is the digest of the rest, so that what a power cut left is known for it."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from stepgrid.host.durable_writes import make_folder, write_cache


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def read(path: Path) -> str | None:
    """Nothing when it is not what was written."""
    try:
        said, _, found = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, ValueError):
        return None
    return found if said == digest(found) else None


def write(path: Path, text: str) -> None:
    """A store that cannot be written has none."""
    with suppress(OSError):
        make_folder(path.parent)
        write_cache(path, f"{digest(text)}\n{text}")
