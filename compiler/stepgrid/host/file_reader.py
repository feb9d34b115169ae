"""What is in a file, in half of open's time: a collect reads tens of thousands of small ones."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stepgrid.host.stale_handles import retried

IRREGULAR = (errno.ELOOP, errno.EINVAL, errno.ENXIO)  # of `open_regular`: a link, a pipe or device, a socket
_AT_ONCE = 2**16  # bytes


def content(path: Path | str, most: int | None = None) -> bytes:
    """`most`: bytes of its beginning."""
    return retried(lambda: _content(path, most))


def _content(path: Path | str, most: int | None) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe is empty, and not waited for
    try:
        if stat.S_ISCHR(os.fstat(file).st_mode):  # a device may have no end
            return b""
        parts, left = list[bytes](), most
        while part := os.read(file, _AT_ONCE if left is None else min(left, _AT_ONCE)):
            parts.append(part)
            left = None if left is None else left - len(part)
        return b"".join(parts)
    finally:
        os.close(file)


def open_regular(path: Path | str) -> int:
    """A descriptor of a file below a step's folder: its program may have put a link, a pipe or a socket there."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode):
        return file
    os.close(file)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "it is no regular file", str(path))


def sha256(path: Path | str) -> str:
    """In hexadecimal digits; a large file is never in memory as a whole."""
    return retried(lambda: _sha256(path))


def _sha256(path: Path | str) -> str:
    import hashlib

    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# JSON objects in files, for those who look at many of them: one that is damaged says nothing.


def read(path: Path | str) -> dict[str, Any]:
    """Empty when it is missing, or no JSON object."""
    try:
        raw = parsed(content(path))
    except (OSError, ValueError):
        return {}
    return raw if isinstance(raw, dict) else {}


def parsed(text: bytes) -> Any:
    """JSON, or a ValueError."""
    if _parser is None and next(_few, None) is not None and not _HALF.search(text):
        try:
            return json.loads(text)
        except RecursionError:
            raise ValueError("it is nested too deep") from None
    return _fast()(text)


_few = iter(range(100))  # files: reading more of them is worth the import of 13 ms, which a job does not need
_HALF = re.compile(rb"\\u[dD]")  # maybe half of a character, which json.loads takes for one
_parser: Callable[[bytes], Any] | None = None


def _fast() -> Callable[[bytes], Any]:
    """As json.loads, in half its time."""
    global _parser
    if _parser is None:
        from pydantic_core import from_json

        _parser = from_json
    return _parser


# Lines of JSON objects, of a file that may still be written or whose writer died: what is damaged says nothing.


def records(texts: Iterable[str], key: str) -> Iterator[Mapping[str, Any]]:
    """Of those that have this key."""
    for text in texts:
        try:
            found = json.loads(text)
        except ValueError:
            continue
        if isinstance(found, dict) and key in found:
            yield found
