"""Prints the spec that `make demo` runs: RocksDB from Debian's packages, else SQLite by Python alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

STEPGRID = Path(sys.executable).with_name("stepgrid")
PACKAGED, PYTHON_ALONE = "specs/quickstart.yaml", "specs/quickstart-sqlite.yaml"


def main() -> int:
    try:
        reason = obstacle()
    except KeyboardInterrupt:
        return 130
    if reason:
        say(f"no Debian packages of RocksDB here ({reason}): SQLite is measured instead, which needs Python alone")
    print(PYTHON_ALONE if reason else PACKAGED)
    return 0


def obstacle() -> str:
    """Why the builds of the ordinary demo cannot be made; empty when they are there."""
    if not shutil.which("apt-get"):
        return "apt-get is not on PATH"
    say("RocksDB from Debian's packages, some seconds")
    return "" if built() else f"`stepgrid builds {PACKAGED}` says why"


def built() -> bool:
    """What fails is in the log of each build. Ctrl-C reaches the command itself, which clears up."""
    argv = [str(STEPGRID), "builds", PACKAGED, "--yes"]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=subprocess.DEVNULL) as command:
        return command.wait() == 0


def say(text: str) -> None:
    print(f"demo: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
