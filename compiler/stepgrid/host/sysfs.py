"""Reading /proc and /sys: what cannot be read is None, never 0."""

from __future__ import annotations

import os
import re
from pathlib import Path

ROOT = Path("/")


def text(path: str, limit: int = -1) -> str | None:
    try:
        with (ROOT / path).open(encoding="utf-8", errors="replace") as file:
            return file.read(limit).strip()
    except OSError:
        return None


def number(path: str) -> int | None:
    try:
        return int(text(path) or "")
    except ValueError:
        return None


def memory(name: str) -> int | None:
    """Bytes, by a name of /proc/meminfo."""
    match = re.search(rf"^{name}:\s*(\d+) kB", text("proc/meminfo") or "", re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def chosen(path: str) -> str | None:
    """The bracketed word of "always [madvise] never"."""
    words = (text(path) or "").split()
    return next((word[1:-1] for word in words if word.startswith("[")), words[0] if words else None)


def names(path: str) -> list[str]:
    try:
        return sorted(entry.name for entry in (ROOT / path).iterdir())
    except OSError:
        return []


def matching(pattern: str) -> list[str]:
    """Paths, as the other functions take them."""
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern))


def pids() -> list[int]:
    return [int(name) for name in names("proc") if name.isdecimal()]


def write(path: str, value: str) -> None:
    """OSError where the kernel does not want it, or has no such file."""
    descriptor = os.open(ROOT / path, os.O_WRONLY | os.O_TRUNC)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)
