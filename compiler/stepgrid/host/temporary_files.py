"""What killed processes were about to publish: names that begin with a dot and end in the process and its host.

Processes of other hosts, whose folder it is too, cannot be looked at: what they left goes when it is a day old."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

KINDS, SUMMARY = ("plans", "marks", "builds", "results", "attempts"), "summary"  # images have locks of their own
_NAME = re.compile(r"\.(.+)\.(\d+)(?:@([0-9a-f]{8}))?(~|\.json)?", re.ASCII)
_OLD = 86400.0  # seconds


def own() -> str:
    """What the name of a temporary file of this process ends in."""
    return f"{os.getpid()}@{_host()}"


@cache
def _host() -> str:
    """With the namespace that its processes are numbered in: containers may share a folder, and a name."""
    try:
        numbers = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - a name, no path
    except OSError:
        numbers = ""
    return hashlib.sha256(f"{platform.node()} {numbers}".encode()).hexdigest()[:8]


def sweep(folder: Path, name: str | None = None) -> None:
    """Removes what dead processes left in a folder; `name`: only what was to become that file."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in [entry for entry in entries if entry.name.startswith(".")]:
            found = _NAME.fullmatch(entry.name)
            if found and name in (None, found[1]) and _is_left(entry, found[2], found[3]):
                _remove(entry)


def everywhere(root: Path) -> None:
    """Of a store whose run lock is held."""
    for kind in KINDS:
        sweep(root / kind)
    below(root / SUMMARY)  # plans that are not summarized again, too


def below(folder: Path) -> None:
    """And in all folders within it."""
    for parent, _, _ in os.walk(folder):
        sweep(Path(parent))


def is_left(ending: str) -> bool:
    """Tell whether a name that ends in `own()` of a process of this host outlived it."""
    process, _, host = ending.partition("@")
    return host == _host() and process.isdecimal() and not _is_alive(process)


def _is_left(entry: os.DirEntry[str], process: str, host: str | None) -> bool:
    """Names without a host are of before they had one."""
    if host in (None, _host()):
        return not _is_alive(process)
    return time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD


def _is_alive(process: str) -> bool:
    """One that was killed keeps its number until it is waited for: in some containers nobody ever does."""
    try:
        said = Path("/proc", process, "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return not any(line.startswith("State:\tZ") for line in said.splitlines())


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(entry.path)  # noqa: PTH108 - an entry is no Path
