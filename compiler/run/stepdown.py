"""Whom a server runs as: nobody's server runs as root. As an ordinary user nothing changes."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

NAME = "nobody"


class User(NamedTuple):
    name: str
    uid: int
    gid: int


class UnreachableError(Exception):
    """A folder that the user cannot enter: what to do about it."""


def ordinary() -> User | None:
    """Who a server is started as by root; None where we are an ordinary user ourselves."""
    if os.geteuid() != 0:
        return None
    try:
        found = pwd.getpwnam(NAME)
    except KeyError:
        raise UnreachableError(
            f"servers do not run as root, and there is no user {NAME} here; run as an ordinary user"
        ) from None
    return User(found.pw_name, found.pw_uid, found.pw_gid)


def give(user: User | None, *trees: Path) -> None:
    """A restored database is the runner's: what the server must write becomes the server's."""
    for path in (path for tree in trees for path in (tree, *tree.rglob("*"))) if user else ():
        assert user is not None
        if path.lstat().st_uid != user.uid:
            os.chown(path, user.uid, user.gid, follow_symlinks=False)


def check(user: User | None, paths: Iterable[Path]) -> None:
    for path in paths if user else ():
        assert user is not None
        if closed := _closed(user, path):
            raise UnreachableError(
                f"servers do not run as root, so this one runs as the user {user.name}, who cannot enter {closed}; "
                "use a folder that everyone may enter (`chmod o+x`, or `data` of a site file), or run as an ordinary user"
            )


def _closed(user: User, path: Path) -> Path | None:
    """The first folder on the way that the user cannot pass."""
    for folder in reversed(path.absolute().parents):
        found = folder.stat()
        bit = 0o100 if found.st_uid == user.uid else 0o010 if found.st_gid == user.gid else 0o001
        if not found.st_mode & bit:
            return folder
    return None
