"""A command from its start to its end: what it took, with everything that it started."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TAIL = 2000  # characters of the output of one that failed


class Spent(NamedTuple):
    began: float  # as time.time() has it
    ended: float
    cpu: float  # seconds, user and system, of it and of all that it waited for

    @property
    def seconds(self) -> float:
        return self.ended - self.began


def spent(argv: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Spent:
    """Its output goes to a file beside the folder; one that fails ends the bench with the end of it."""
    log = folder.with_name(f"{folder.name}.log")
    with log.open("w", encoding="utf-8") as out:
        began = time.time()
        child = subprocess.Popen(argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        _, status, usage = os.wait4(child.pid, 0)
        ended = time.time()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(argv)} ended with {child.returncode}:\n{log.read_text(encoding='utf-8')[-TAIL:]}")
    return Spent(began, ended, usage.ru_utime + usage.ru_stime)


def stepgrid(folder: Path, *arguments: str) -> Spent:
    """The command of this checkout, started as a person does in a folder that holds outputs/."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    return spent([sys.executable, "-m", "stepgrid.cli", *arguments], folder, environment)
