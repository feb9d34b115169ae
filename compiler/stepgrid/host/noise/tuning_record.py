"""What `noise: fix` has to put back, kept beside the host lock: who gets the lock next does it for an owner that died.

The owner holds the lock alone as long as the record is there. So whoever holds it, and is not the owner, knows that the
owner is gone; no process id is trusted.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stepgrid.host import sysfs
from stepgrid.host.durable_writes import sync
from stepgrid.host.noise.host_settings import SettingChange, files

BOOT = "proc/sys/kernel/random/boot_id"  # a new start puts everything back
SUFFIX = ".noise.json"


def path(lock: Path) -> Path:
    return lock.with_name(f"{lock.name}{SUFFIX}")


def keep(lock: Path, changes: Sequence[SettingChange]) -> None:
    """Before anything is written. OSError: it cannot be kept, or one is there."""
    before = {change.path: change.before for change in changes}
    found = {"boot": sysfs.text(BOOT), "pid": os.getpid(), "user": os.getuid(), "before": before}
    descriptor = os.open(path(lock), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
    sync(path(lock))
    sync(path(lock).parent)


def drop(lock: Path) -> None:
    path(lock).unlink(missing_ok=True)


def is_there(lock: Path) -> bool:
    return os.path.lexists(path(lock))


def kept(lock: Path) -> Mapping[str, Any] | None:
    """Only root's or our own is believed, since others may write to that folder, too."""
    try:
        descriptor = os.open(path(lock), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, encoding="utf-8") as file:
        about = os.fstat(descriptor)
        if about.st_uid not in (0, os.geteuid()) or not stat.S_ISREG(about.st_mode):
            return None
        with suppress(ValueError):
            found = json.load(file)
            return found if isinstance(found, dict) else {}
    return {}  # half of one


def left(lock: Path) -> Mapping[str, str] | None:
    """File -> what was in it, of a record that is still true; None: there is none."""
    found = kept(lock) or {}
    if found.get("boot") != sysfs.text(BOOT):
        return None
    known, before = files(), found.get("before")
    pairs = before.items() if isinstance(before, dict) else ()
    return {file: value for file, value in pairs if file in known and isinstance(value, str) and known[file](value)}
