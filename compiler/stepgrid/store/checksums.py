"""Sizes and checksums of a result's files: result.json keeps those of its publication."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from stepgrid.host.files import IRREGULAR, open_regular, retry_stale

Files: TypeAlias = Mapping[str, Mapping[str, int | str]]  # path below the result -> bytes, sha256
RECORD = "result.json"  # holds the checksums, and so none of its own
READINGS = re.compile(r"(figures|samples)\.[\w.]+\.json")  # what parsers made of the files: caches
AT_ONCE = 2**18  # bytes
# a file that is gone, or a disk that lost it; a lack of permission, memory or descriptors says nothing of a file
_LOST = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EIO, errno.EBADMSG, errno.EUCLEAN, *IRREGULAR)


class _Sum(NamedTuple):
    bytes: int
    sha256: str


def of(folder: Path) -> dict[str, dict[str, int | str]]:
    """Checksums of every file but the record and the readings; what cannot be read is published without one."""
    checksums = {}
    for name in sorted(_names(folder)):
        with suppress(OSError):
            if not READINGS.fullmatch(name):
                checksums[name] = dict(_sum(f"{folder}/{name}")._asdict())
    return checksums


def difference(folder: Path, files: Files) -> str | None:
    """A sentence about the first file that is not what was published. Others may have come since: caches, notes."""
    return next((said for name, entry in files.items() if (said := _changed(folder, name, entry))), None)


def _changed(folder: Path, name: str, entry: Mapping[str, int | str]) -> str | None:
    try:
        found = retry_stale(lambda: _sum(f"{folder}/{name}"))
    except OSError as error:
        return _lost(name, error)
    if found.bytes != entry["bytes"]:
        return f"`{name}` has {found.bytes} bytes, it was published with {entry['bytes']}"
    return f"the checksum of `{name}` differs from the published one" if found.sha256 != entry["sha256"] else None


def _lost(name: str, error: OSError) -> str | None:
    if error.errno == errno.ENOENT:
        return f"`{name}` is missing"
    return f"`{name}` cannot be read ({error.strerror})" if error.errno in _LOST else None


def _sum(path: str) -> _Sum:
    """In half of the time that Python's file objects take: most files are small."""
    file, digest, size = open_regular(path), hashlib.sha256(), 0
    try:
        while part := os.read(file, AT_ONCE):
            digest.update(part)
            size += len(part)
    finally:
        os.close(file)
    return _Sum(size, digest.hexdigest())


def _names(folder: Path) -> Iterator[str]:
    """Of plain files: hidden ones are temporary, and a pipe waits for its writer."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if not name.startswith(".") and path != folder / RECORD and path.is_file() and not path.is_symlink():
                yield str(path.relative_to(folder))
