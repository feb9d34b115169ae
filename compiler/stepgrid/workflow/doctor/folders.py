"""Where results and databases go: writable, with room, and able to do what is asked of a database's device."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from stepgrid.host import disk
from stepgrid.host.host_check import OK, STOPS, WARNING, Finding, unknown
from stepgrid.model.units import percent, size
from stepgrid.run.images.clone import FICLONE
from stepgrid.store.store import Store

LITTLE = 0.1  # of a device: below that, flash slows down
BLOCK = 4096


def findings(store: Store) -> Iterator[Finding]:
    yield _writable("outputs", store.root)
    data = store.root if store.data == store.root else store.data.parent
    if data != store.root:
        yield _writable("data", data)
    yield _room(data)
    yield _tried("reflinks", data, _reflinked, "images are hard-linked or copied: another file system, such as xfs")
    yield _tried("direct IO", data, _direct, "options that ask for it fail: another file system")


def _writable(name: str, folder: Path) -> Finding:
    there = disk.existing(folder)
    inner = [path for path in there.iterdir() if path.is_dir()] if there == folder.absolute() else []
    closed = next((path for path in (there, *inner) if not os.access(path, os.W_OK | os.X_OK)), None)
    if closed is not None:
        mend = f"sudo chown -R $USER {closed}, or another folder"
        return Finding(name, STOPS, f"{closed} cannot be written", str(closed), "writable", mend)
    return Finding(name, OK, f"{folder.absolute()} can be written", str(folder.absolute()))


def _room(folder: Path) -> Finding:
    found = os.statvfs(disk.existing(folder))
    free, total = found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize
    if not total:
        return unknown("free space")
    little = free < LITTLE * total
    said = f"{size(free)} of {size(total)}"
    mend = "stepgrid gc --yes && stepgrid gc --empty" if little else ""
    return Finding("free space", WARNING if little else OK, said, free, f"at least {percent(LITTLE)}", mend)


def _tried(name: str, folder: Path, can: Callable[[Path], bool], otherwise: str) -> Finding:
    """With a small file there, for a moment."""
    try:
        with tempfile.TemporaryDirectory(dir=disk.existing(folder), prefix=".stepgrid-") as inner:
            works = can(Path(inner))
    except OSError as error:
        return unknown(name, f"cannot be tried: {error.strerror}")
    kind = at.filesystem if (at := disk.mount(folder)) else "this file system"
    said = f"{kind} has {'them' if name.endswith('s') else 'it'}" if works else f"{kind} has none"
    return Finding(name, OK if works else WARNING, said, works, mend="" if works else otherwise)


def _reflinked(folder: Path) -> bool:
    (folder / "a").write_bytes(b"x" * BLOCK)
    with (folder / "a").open("rb") as source, (folder / "b").open("wb") as target:
        try:
            fcntl.ioctl(target, FICLONE, source.fileno())
        except OSError:
            return False
    return True


def _direct(folder: Path) -> bool:
    try:
        os.close(os.open(folder / "direct", os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o600))
    except OSError:
        return False
    return True
