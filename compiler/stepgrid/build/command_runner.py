"""Runs the programs that a build needs; every command and all that it says goes into the build's log."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from stepgrid.build import environment_variables
from stepgrid.build.error import BuildError

_SUBREAPER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("subreaper.py")))


@dataclass(frozen=True, slots=True)
class CommandResult:
    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs argument vectors, never a shell, in one folder. What a command starts ends with it, and with this process.

    `env` adds to the environment of this process.
    """

    log: Path
    folder: Path

    def run(
        self,
        argv: Sequence[str],
        timeout: float,
        quiet: bool = False,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Keeps what it says, for short answers. `quiet` keeps that out of the log."""
        began = self._began(argv, cwd)
        given = environment_variables.client(str(self.folder.absolute()), env or {})
        status, out, err = _kept(argv, timeout, cwd or self.folder, given, None)
        done = CommandResult(status, *(text.decode(errors="replace") for text in (out, err)))
        if not quiet:
            self.note(done.stdout + done.stderr)
        self._ended(status, began)
        return done

    def compile(
        self, argv: Sequence[str], timeout: float, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> int:
        """The exit status; what it says goes straight into the log. Flags of the user's shell do not reach it."""
        began = self._began(argv, cwd)
        given = environment_variables.compiler(str(self.folder.absolute()), env or {})
        with self.log.open("ab") as log:
            status, _, _ = _kept(argv, timeout, cwd or self.folder, given, log)
        self._ended(status, began)
        return status

    def note(self, text: str) -> None:
        with self.log.open("a", encoding="utf-8") as file:
            file.write(hidden(text.rstrip("\n")) + "\n" if text else "")

    def _began(self, argv: Sequence[str], cwd: Path | None) -> float:
        (self.folder / environment_variables.TEMPORARY).mkdir(exist_ok=True)
        where = f"  [in {os.path.relpath(cwd, self.folder)}]" if cwd and cwd != self.folder else ""
        self.note(f"$ {shlex.join(argv)}{where}")
        return time.monotonic()

    def _ended(self, status: int, began: float) -> None:
        self.note(f"[exit status {status}, {time.monotonic() - began:.2f} s]")


def _kept(
    argv: Sequence[str], timeout: float, cwd: Path, env: Mapping[str, str], log: IO[bytes] | None
) -> tuple[int, bytes, bytes]:
    """Runs it under a keeper, in a session without a terminal: nobody is there to answer a question."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as report:
        try:
            keeper = subprocess.Popen(
                [*_SUBREAPER, str(os.getpid()), str(writing), *argv],
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=log or subprocess.PIPE,
                stderr=subprocess.STDOUT if log else subprocess.PIPE,
                start_new_session=True,
                pass_fds=(writing,),
            )
        finally:
            os.close(writing)
        out, err = _communicate(keeper, argv, timeout)
        return _status(argv, report.read()), out or b"", err or b""


def _communicate(keeper: subprocess.Popen[bytes], argv: Sequence[str], timeout: float) -> tuple[bytes, bytes]:
    try:
        return keeper.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise BuildError(f"{argv[0]} did not end within {timeout:g} s: {hidden(shlex.join(argv))}") from None
    finally:
        if keeper.poll() is None:
            keeper.terminate()  # it kills the rest; to be killed itself would leave the rest alone
            keeper.communicate()


def _status(argv: Sequence[str], report: bytes) -> int:
    said = dict(line.split() for line in report.decode().splitlines())
    if "errno" in said:
        raise BuildError(f"{argv[0]} cannot be started: {os.strerror(int(said['errno']))}")
    if "status" not in said:
        raise BuildError(f"{argv[0]} was stopped from outside: {hidden(shlex.join(argv))}")
    return int(said["status"])


# Logs and reports are shown to others: what lets someone in stays out of them.

# a password, and a name without one: of https it may be a token
_IN_URL = re.compile(r"(https?://)[^\s/]+@|(\w+://[^\s/@:]+):[^\s/]+@")


def hidden(text: str) -> str:
    return _IN_URL.sub(lambda found: f"{found[1] or found[2] + ':'}***@", text)
