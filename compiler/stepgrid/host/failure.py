"""Why a stage has no result: one sentence, the step, and the end of the log that says more."""

from __future__ import annotations

import errno
import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path

from stepgrid.host.devices import existing

LINES = 15
LONGEST, LAST = 400, 150  # characters of a line, and how many of them are of its end
NOTHING = 1 << 18  # bytes free that count as none
LOOK_BACK = 1 << 16
PROBE = ".writable"
OUTSIDE = (
    "is full:",
    "is read-only now:",
    *(f"was killed by {name}" for name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGXFSZ")),
)
DISK_FULL = "No space left on device"
FOUND_NOTHING = "it found none of the keys that it looked up; {:.3g} % were expected"
FEWER = "remove some, or use another disk"
MEANS = {
    "SIGKILL": "by the kernel when memory runs out, or by someone",
    "SIGXFSZ": "a file grew beyond the limit of `ulimit -f`",
}


@dataclass(slots=True)
class StageError(Exception):
    message: str
    step: str | None = None
    log: Path | None = None
    tail: str = ""
    starting: bool = False  # a server that did not come up on the database that it was given

    def block(self, title: str) -> str:
        """What a person sees on stderr."""
        lines = [f"failed: {title}", f"  {self.step}: {self.message}" if self.step else f"  {self.message}"]
        lines += [f"  | {line}" for line in self.tail.splitlines()]
        return "\n".join(lines + ([f"  log: {self.place}"] if self.log else []))

    @property
    def place(self) -> Path | None:
        """The log, as one writes it in this folder: a server needs the whole path, a person does not."""
        here = Path.cwd()
        return self.log.relative_to(here) if self.log and self.log.is_relative_to(here) else self.log


class UnsupportedError(Exception):
    """The build cannot do what the stage asks for: a result, not a failure."""


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


def met_full_disk(folder: Path, data: Path) -> bool:
    """The engine says so, or could not even say it: its log is on a disk as well."""
    said = any(DISK_FULL in last_bytes(folder / name) for name in ("stderr", "stdout"))
    return said or has_no_room(folder, data)


def has_no_room(*paths: Path) -> bool:
    """One of them."""
    return any(_free(path) < NOTHING or _without_inodes(path) for path in paths)


def read_only(*folders: Path) -> str | None:
    """What a file system that was made read-only says: it is tried, since one in trouble does not say so of itself."""
    for folder in folders:
        try:
            (folder / PROBE).touch()
            (folder / PROBE).unlink()
        except OSError as error:
            if error.errno == errno.EROFS:
                return f"the disk of {folder} is read-only now: see the kernel's log (dmesg)"
    return None


def is_from_outside(failure: StageError) -> bool:
    """A disk in trouble, or somebody's signal: neither says anything of the image that a step started from."""
    return DISK_FULL in failure.tail or any(words in failure.message for words in OUTSIDE)


def is_of_missing_keys(failure: StageError) -> bool:
    """The database lacks what was loaded, whichever step notices."""
    return FOUND_NOTHING.partition(";")[0] in failure.message


def is_disk_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def disk_full(*paths: Path, hint: str = "free some, load less, or use another disk") -> str:
    """Of the one that has the least left. Ask before anything is removed: that is what the failed write saw."""
    path = next(filter(_without_inodes, paths), min(paths, key=_free))
    found = os.statvfs(existing(path))
    if _without_inodes(path):
        return f"the disk of {path} is full: 0 of its {found.f_files} inodes are free (files and folders); {FEWER}"
    free, total = found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize
    return f"the disk of {path} is full: {_size(free)} of {_size(total)} free; {hint}"


def killed_by(number: int) -> str:
    """The signal, for a sentence, with what it usually means."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name} ({MEANS[name]})" if name in MEANS else name


def _without_inodes(path: Path) -> bool:
    found = os.statvfs(existing(path))
    return found.f_files > 0 and found.f_favail == 0  # no number at all: the file system makes them as they are needed


def _free(path: Path) -> int:
    found = os.statvfs(existing(path))
    return found.f_bavail * found.f_frsize


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.1f} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1024
    return f"{count:.1f} TiB"


def last_bytes(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - LOOK_BACK, 0))
            return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", file.read().decode("utf-8", "replace"))
    except OSError:
        return ""
