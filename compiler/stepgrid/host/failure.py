"""Failures of stages: one sentence, the step, and the end of the log that says more."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from stepgrid.errors import StepgridError
from stepgrid.host import files

FOUND_NOTHING = "it found none of the keys that it looked up"
NO_ROWS = "it found none of the rows that it looked up"
DISK_FULL = "No space left on device"
OUTSIDE = (
    "is full:",
    "is read-only now:",
    "ran out of memory",
    *(f"was killed by {name}" for name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGXFSZ")),
)


@dataclass(slots=True)
class StageError(StepgridError):
    message: str
    step: str | None = None
    log: Path | None = None
    tail: str = ""
    starting: bool = False  # a server that did not come up on the database that it was given
    exited_well: bool = False  # the program ended with exit status 0: its figures are what failed

    def block(self, title: str) -> str:
        """Lay it out for a person who reads stderr."""
        lines = [f"failed: {title}", f"  {self.step}: {self.message}" if self.step else f"  {self.message}"]
        lines += [f"  | {line}" for line in self.tail.splitlines()]
        return "\n".join(lines + ([f"  log: {self.relative_log}"] if self.log else []))

    @property
    def relative_log(self) -> Path | None:
        """The log, as one writes it in this folder: a server needs the whole path, a person does not."""
        folder = Path.cwd()
        return self.log.relative_to(folder) if self.log and self.log.is_relative_to(folder) else self.log


class UnsupportedError(StepgridError):
    """The build cannot do what the stage asks for: a result, not a failure."""


def is_from_outside(failure: StageError) -> bool:
    """A disk in trouble, or somebody's signal: neither says anything of the image that a step started from."""
    return DISK_FULL in failure.tail or any(words in failure.message for words in OUTSIDE)


def is_of_missing_keys(failure: StageError) -> bool:
    """Tell whether the database lacks what was loaded, whichever step notices."""
    return any(text in failure.message for text in (FOUND_NOTHING, NO_ROWS))


# The end of a log.

LINES = 15
LONGEST, LAST = 400, 150  # characters of a line, and how many of them are of its end
LOOK_BACK = 1 << 16


def end_of_log(log: Path) -> str:
    """Return the last lines with text; a progress line that is rewritten with \\r counts as its last state."""
    text = last_bytes(log).replace("\r\n", "\n")
    lines = [line.rpartition("\r")[2].rstrip() for line in text.split("\n")]
    # a client may say its whole statement, of a thousand rows
    short = [line if len(line) <= LONGEST else f"{line[: LONGEST - LAST]} … {line[-LAST:]}" for line in lines if line]
    return "\n".join(short[-LINES:])


_ERROR = re.compile(r"\berror(?:\[\w{1,20}\])?:", re.IGNORECASE)


def first_error(log: Path) -> str:
    """Return the first line in which a compiler tells of an error; empty if there is none."""
    try:
        with log.open(encoding="utf-8", errors="replace") as file:
            lines = iter(lambda: file.readline(LOOK_BACK), "")
            text = next((line.strip() for line in lines if _ERROR.search(line)), "")
    except OSError:
        return ""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def explaining_log(folder: Path) -> Path:
    """Choose the log that says why: the one with the disk's complaint, else stderr, else stdout."""
    logs = [folder / "stderr", folder / "stdout"]
    full = [log for log in logs if DISK_FULL in last_bytes(log)]
    return (full + [log for log in logs if end_of_log(log)] + logs)[0]


def last_bytes(log: Path) -> str:
    try:
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", tail(log, LOOK_BACK))
    except OSError:
        return ""


def tail(path: Path, most: int) -> str:
    """Read the last bytes of a regular file, as text."""
    with os.fdopen(files.open_regular(path), "rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - most, 0))
        return file.read().decode("utf-8", "replace")
