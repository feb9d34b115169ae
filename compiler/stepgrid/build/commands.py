"""Run the programs that a build needs, and keep each command and its output in the build's log.

Many tools read settings from their current folder and from all above it (`.cargo/config.toml`, `.mvn`, `go.work`): a
tool of the machine runs in the root folder, where only the administrator could put any.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from msgspec import Struct

from stepgrid.build.error import BuildError
from stepgrid.build.relink import install_linkers

TOOLS = Path("/")  # the current folder of whatever is given no other
TEMPORARY = "tmp"  # in the attempt: what a killed program leaves goes with it
COOKIE = "STEPGRID_BUILDING"  # names the attempt that a process works for: the next run ends what a killed one left

_SUBREAPER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("subreaper.py")))
# git would work on another repository than the one in its folder, as within a hook
_GIT = (
    "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES "
    "GIT_NAMESPACE GIT_PREFIX GIT_CEILING_DIRECTORIES GIT_EXTERNAL_DIFF GIT_TEMPLATE_DIR"
)
# compilers and makes take them as flags that no spec declares and no record shows
_COMPILERS = (
    "CC CXX CPP LD AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS LIBS MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKELEVEL DESTDIR "
    "CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_RUN_PATH CMAKE_BUILD_TYPE CMAKE_GENERATOR "
    "CMAKE_TOOLCHAIN_FILE CMAKE_PREFIX_PATH CONFIG_SITE RUSTFLAGS LD_PRELOAD"
)
GIT_VARIABLES, _COMPILER_VARIABLES = frozenset(_GIT.split()), frozenset(_COMPILERS.split())
# a password, and a name without one: of https it may be a token
_CREDENTIALS = re.compile(r"(https?://)[^\s/]+@|((?<!\w)\w++://[^\s/@:]++):[^\s/]+@")


class CommandResult(Struct, frozen=True):
    status: int
    stdout: str
    stderr: str


class Commands(Struct, frozen=True):
    """Argument vectors, never run by a shell. Processes that a command starts end with it.

    `env` adds to the environment of this process; `cwd` is for what works on files of its current folder.
    """

    log: Path
    folder: Path  # of the attempt, whose files they make
    link: int = 1  # of the program that is compiled

    def run(
        self,
        argv: Sequence[str],
        timeout: float,
        quiet: bool = False,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Return the output, for short answers; `quiet` keeps it out of the log."""
        began = self._begin(argv, cwd)
        environment = {**self._environment(), **(env or {})}
        status, out, err = _run_supervised(argv, timeout, cwd or TOOLS, environment, None)
        result = CommandResult(status, *(text.decode(errors="replace") for text in (out, err)))
        if not quiet:
            self.note(result.stdout + result.stderr)
        self._end(status, began)
        return result

    def compile(
        self, argv: Sequence[str], timeout: float, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> int:
        """Return the exit status; output goes to the log. Compiler flags of the user's shell do not reach it."""
        began = self._begin(argv, cwd)
        inherited = {name: value for name, value in self._environment().items() if name not in _COMPILER_VARIABLES}
        if self.link > 1:
            linkers = install_linkers(self.folder.absolute() / TEMPORARY / "linkers", self.log.absolute(), self.link)
            inherited["PATH"] = f"{linkers}:{inherited.get('PATH', os.defpath)}"
        with self.log.open("ab") as log:
            status, _, _ = _run_supervised(argv, timeout, cwd or TOOLS, {**inherited, **(env or {})}, log)
        self._end(status, began)
        return status

    def first_line(self, argv: Sequence[str]) -> str:
        """Return what a tool says of its version."""
        return self.run(argv, 60.0, quiet=True).stdout.partition("\n")[0]

    def note(self, text: str) -> None:
        with self.log.open("a", encoding="utf-8") as file:
            file.write(mask_credentials(text.rstrip("\n")) + "\n" if text else "")

    def _environment(self) -> dict[str, str]:
        """The job's environment, with the user's proxies and settings."""
        folder = str(self.folder.absolute())
        inherited = {name: value for name, value in os.environ.items() if name not in GIT_VARIABLES}
        # git takes no repository around the attempt's folder, such as the checkout, for that of a tree without history
        git = {"GIT_CEILING_DIRECTORIES": os.path.realpath(self.folder.parent)}
        return {**inherited, **git, "LC_ALL": "C", COOKIE: folder, "TMPDIR": f"{folder}/{TEMPORARY}"}

    def _begin(self, argv: Sequence[str], cwd: Path | None) -> float:
        (self.folder / TEMPORARY).mkdir(exist_ok=True)
        where = f"  [in {os.path.relpath(cwd, self.folder)}]" if cwd and cwd != self.folder else ""
        self.note(f"$ {shlex.join(argv)}{where}")
        return time.monotonic()

    def _end(self, status: int, began: float) -> None:
        self.note(f"[exit status {status}, {time.monotonic() - began:.2f} s]")


def mask_credentials(text: str) -> str:
    """Hide passwords and tokens of URLs: logs and reports are shown to others."""
    return _CREDENTIALS.sub(lambda match: f"{match[1] or match[2] + ':'}***@", text)


def _run_supervised(
    argv: Sequence[str], timeout: float, cwd: Path, env: Mapping[str, str], log: IO[bytes] | None
) -> tuple[int, bytes, bytes]:
    """Run a command below the subreaper, in a session without a terminal: it cannot ask the user a question."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as report:
        try:
            process = subprocess.Popen(
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
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            command = mask_credentials(shlex.join(argv))
            raise BuildError(f"{argv[0]} did not end within {timeout:g} s: {command}") from None
        finally:
            if process.poll() is None:
                process.terminate()  # it kills the command; a killed subreaper would leave that alone
                process.communicate()
        return _exit_status(argv, report.read()), out or b"", err or b""


def _exit_status(argv: Sequence[str], report: bytes) -> int:
    fields = dict(line.split() for line in report.decode().splitlines())
    if "errno" in fields:
        raise BuildError(f"{argv[0]} cannot be started: {os.strerror(int(fields['errno']))}")
    if "status" not in fields:
        raise BuildError(f"{argv[0]} was stopped from outside: {mask_credentials(shlex.join(argv))}")
    return int(fields["status"])
