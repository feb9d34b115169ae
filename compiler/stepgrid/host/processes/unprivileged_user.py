"""Whom a server runs as: none runs as root. As an ordinary user nothing changes.

Where that user cannot get at the files, the server stays who it is outside, and is that user inside a namespace of its
own: Postgres sees no root, and the files are still ours.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from stepgrid.host.processes import user_namespace

NAME = "nobody"


class User(NamedTuple):
    name: str
    uid: int
    gid: int
    inside: bool = False  # a namespace, instead of everywhere


class UnreachableError(Exception):
    """A folder that the user cannot enter: what to do about it."""


def ordinary(paths: Iterable[Path]) -> User | None:
    """Who a server with these files is started as by root; None where we are an ordinary user ourselves."""
    if os.geteuid() != 0:
        return None
    try:
        found = pwd.getpwnam(NAME)
    except KeyError:
        said = f"servers do not run as root, and there is no user {NAME} here; run as an ordinary user"
        raise UnreachableError(said) from None
    user = User(found.pw_name, found.pw_uid, found.pw_gid)
    closed = next((folder for path in paths if (folder := _closed(user, path))), None)
    if closed is None:
        return user
    if user_namespace.possible(user.uid, user.gid):
        return user._replace(inside=True)
    raise UnreachableError(
        f"servers do not run as root, so this one would run as {user.name}, who cannot enter {closed}; use a folder "
        "that everyone may enter (`chmod o+x`, or `data` of a site file), or run as an ordinary user"
    )


def give(user: User | None, *trees: Path) -> None:
    """A restored database is the runner's: what the server must write becomes the server's."""
    if user is None or user.inside:
        return
    for path in (path for tree in trees for path in (tree, *tree.rglob("*"))):
        if path.lstat().st_uid != user.uid:
            os.chown(path, user.uid, user.gid, follow_symlinks=False)


def _closed(user: User, path: Path) -> Path | None:
    """The first folder on the way that the user cannot pass."""
    for folder in reversed(path.absolute().parents):
        found = folder.stat()
        bit = 0o100 if found.st_uid == user.uid else 0o010 if found.st_gid == user.gid else 0o001
        if not found.st_mode & bit:
            return folder
    return None
