"""Folders for the sockets of servers: private, with a short path, removed with their owner."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stepgrid.host.processes.supervision import User, give_files

PREFIX = "stepgrid-socket-"
NEW = 60.0  # seconds: a folder that was made just now may not be locked yet
LONGEST = 100  # of a socket's path: the kernel has room for 108 bytes, some clients for fewer


class SocketError(Exception):
    """No place for a socket: says where it was tried."""


@contextmanager
def sockets(name: str, user: User | None) -> Iterator[Path]:
    """A new folder for a socket of that name. Its owner holds a lock on it for as long as it lives."""
    folder = _made(name, user)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        give_files(user, folder)
        yield folder
    finally:
        with suppress(OSError):
            _remove(folder)
        os.close(descriptor)


def _made(name: str, user: User | None) -> Path:
    tried: list[str] = []
    for place in _places():
        sweep(place, {os.geteuid(), *([user.uid] if user else [])})
        try:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))  # mode 700
        except OSError as error:
            tried.append(f"{place}: {error.strerror}")
            continue
        if len(os.fsencode(folder / name)) < LONGEST:
            return folder
        folder.rmdir()
        tried.append(f"{place}: its path is too long")
    raise SocketError(f"there is no place for the server's socket ({'; '.join(tried)}); set TMPDIR to a short path")


def _places() -> list[Path]:
    own = [os.environ.get("XDG_RUNTIME_DIR")] if os.geteuid() else []
    return list(dict.fromkeys(Path(place) for place in (*own, tempfile.gettempdir(), "/tmp", "/var/tmp") if place))


def sweep(place: Path, owners: Collection[int]) -> None:
    """Removes the folders of these users there whose owners are dead: nobody holds their locks."""
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                found = os.fstat(descriptor)
                if found.st_uid in owners and time.time() - found.st_ctime > NEW:
                    _remove(folder)
            finally:
                os.close(descriptor)


def _remove(folder: Path) -> None:
    """Files and no folders: what else may have such a name is not ours."""
    for entry in folder.iterdir():
        entry.unlink()
    folder.rmdir()
