"""What is in a file, in half of open's time: a collect reads tens of thousands of small ones."""

from __future__ import annotations

import os
from pathlib import Path

_AT_ONCE = 2**16  # bytes


def content(path: Path | str, most: int | None = None) -> bytes:
    """`most`: bytes of its beginning."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts, left = list[bytes](), most
        while part := os.read(file, _AT_ONCE if left is None else min(left, _AT_ONCE)):
            parts.append(part)
            left = None if left is None else left - len(part)
        return b"".join(parts)
    finally:
        os.close(file)
