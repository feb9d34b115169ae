"""Who it is that something waits for, as far as a person may know."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

VERBS = {"stepgrid.run": "measures", "stepgrid.build": "builds"}


def described(pids: Iterable[int]) -> str:
    return " and ".join(map(_process, pids)) or "a process that cannot be seen from here"


def _process(pid: int) -> str:
    words = _words(pid)
    for module, verb in VERBS.items():
        if module in words:
            return f"process {pid}, which {verb} {words[-1]}{_where(pid)}"
    text = " ".join(" ".join(words).split())[:80]
    return f"process {pid} ({text})" if text else f"process {pid}"


def _words(pid: int) -> list[str]:
    try:
        return [os.fsdecode(word) for word in Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")]
    except OSError:
        return []


def _where(pid: int) -> str:
    """Another user's is not told."""
    try:
        folder = Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return " in another checkout"
    return " in this checkout" if folder == Path.cwd() else f" in {folder}"
