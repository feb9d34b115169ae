"""Runs the programs that a build needs; every command and all that it says goes into the build's log."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.build.problem import BuildError
from compiler.run.processes import die_with_parent


@dataclass(frozen=True, slots=True)
class Completed:
    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs argument vectors, never a shell, in one folder."""

    log: Path
    folder: Path

    def run(self, argv: Sequence[str], timeout: float, quiet: bool = False) -> Completed:
        """`quiet` keeps what it says out of the log."""
        self.note(f"$ {shlex.join(argv)}")
        began = time.monotonic()
        try:
            done = subprocess.run(
                list(argv),
                cwd=self.folder,
                env={**os.environ, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
                preexec_fn=die_with_parent(),
            )
        except subprocess.TimeoutExpired:
            raise BuildError(f"{argv[0]} did not end within {timeout:g} s: {shlex.join(argv)}") from None
        except OSError as error:
            raise BuildError(f"{argv[0]} cannot be started: {error.strerror}") from None
        if not quiet:
            self.note(done.stdout + done.stderr)
        self.note(f"[exit status {done.returncode}, {time.monotonic() - began:.2f} s]")
        return Completed(done.returncode, done.stdout, done.stderr)

    def note(self, text: str) -> None:
        with self.log.open("a", encoding="utf-8") as file:
            file.write(text.rstrip("\n") + "\n" if text else "")
