"""The end of a log, as a failure shows it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from stepgrid.host import file_reader

LINES = 15
LONGEST, LAST = 400, 150  # characters of a line, and how many of them are of its end
LOOK_BACK = 1 << 16
DISK_FULL = "No space left on device"


def end_of(log: Path) -> str:
    """The last lines with something on them; a progress line that is rewritten with \\r counts as its last state."""
    text = last_bytes(log).replace("\r\n", "\n")
    lines = [line.rpartition("\r")[2].rstrip() for line in text.split("\n")]
    return "\n".join([_both_ends(line) for line in lines if line][-LINES:])


def _both_ends(line: str) -> str:
    """A client may say its whole statement, of a thousand rows."""
    return line if len(line) <= LONGEST else f"{line[: LONGEST - LAST]} … {line[-LAST:]}"


def telling(folder: Path) -> Path:
    """The log that says why: the one with the disk's complaint, else stderr, else stdout."""
    logs = [folder / "stderr", folder / "stdout"]
    full = [log for log in logs if DISK_FULL in last_bytes(log)]
    spoken = [log for log in logs if end_of(log)]
    return (full + spoken + logs)[0]


def last_bytes(log: Path) -> str:
    try:
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", tail(log, LOOK_BACK))
    except OSError:
        return ""


def tail(path: Path, most: int) -> str:
    """The last bytes of a regular file, as text."""
    with os.fdopen(file_reader.open_regular(path), "rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - most, 0))
        return file.read().decode("utf-8", "replace")
