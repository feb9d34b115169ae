"""One search of the bench, through a kill -9: what was found, and what it took."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from bench.bisect_repository import Repository

_SPEC = """title: a small program
builds:
  small:
    engine: program
    version: "1"
    source: {{git: "file://{folder}", ref: {last}}}
    flags: {{command: "cc -o program program.c", programs: program}}
steps:
  - name: run
    kind: command
    argv: ["{{program:program}}", "{{seed}}"]
    metrics: {{ops: {{pattern: 'ops=(\\S+)', better: higher}}}}
"""
_DECISIONS, _SECONDS = (1, 10), 3.0  # the kill comes after so many decisions and at most so many seconds
_LOOK = 0.02


class Ended(NamedTuple):
    is_right: bool
    builds: int  # that were tried
    loads: int
    killed: str
    said: str


def search(folder: Path, made: Repository, dice: random.Random) -> Ended:
    spec = folder / "spec.yaml"
    spec.write_text(_SPEC.format(folder=made.folder, last=made.commits[-1]), encoding="utf-8")
    argv = [sys.executable, "-m", "stepgrid.cli", "bisect", "spec.yaml", "--metric", "ops"]
    argv += ["--good", made.commits[0], "--bad", made.commits[-1]]
    with (folder / "screen").open("wb") as screen:
        killed = _killed(folder, argv, screen, dice.randint(*_DECISIONS), dice.uniform(0, _SECONDS))
        status = subprocess.run(argv, cwd=folder, env=_environment(folder), stdout=screen, stderr=screen, check=False)
    return _ended(folder, made, killed, status.returncode)


def _killed(folder: Path, argv: Sequence[str], screen: IO[bytes], decisions: int, seconds: float) -> str:
    """After which decision."""
    process = subprocess.Popen(argv, cwd=folder, env=_environment(folder), stdout=screen, stderr=screen)
    while process.poll() is None and _decided(folder) < decisions:
        time.sleep(_LOOK)
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    if process.poll() is not None:
        return "the end"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return str(_decided(folder))


def _decided(folder: Path) -> int:
    """Whatever moment it is: the file is there or not, and whole."""
    return max((len(json.loads(each.read_bytes())["decisions"]) for each in _searches(folder)), default=0)


def _searches(folder: Path) -> list[Path]:
    return list(folder.glob("outputs/bisect/*/search.json"))


def _environment(folder: Path) -> dict[str, str]:
    """Searches neither wait for each other nor look at how busy the host is: their figures do not depend on it."""
    own = {"STEPGRID_HOST_LOCK": str(folder / "host.lock"), "STEPGRID_LOOK": "0", "STEPGRID_SITE": ""}
    return {**os.environ, **own}


def _ended(folder: Path, made: Repository, killed: str, status: int) -> Ended:
    builds = len([*folder.glob("outputs/builds/b-*"), *folder.glob("outputs/attempts/b-*/*/failure.json")])
    results = list(folder.glob("outputs/results/s-*/*/result.json"))
    text = next(folder.glob("outputs/bisect/*/summary.txt"), None)
    said = text.read_text(encoding="utf-8").splitlines()[1].strip() if text else f"exit status {status}"
    twice = len(results) - len({each.parents[1] for each in results})
    expected = made.commits[made.change][:10]
    is_right = status == 0 and expected in said and not twice and ("among" not in said or _hidden(made))
    return Ended(is_right, builds, len(results), killed, said if is_right else f"WRONG, not {expected}: {said}")


def _hidden(made: Repository) -> bool:
    """What stands before the change does not build, so that nothing could tell the two apart."""
    return made.change - 1 in made.broken
