from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stepgrid.host.processes import supervision
from stepgrid.host.processes.supervision import Program, User

Start = Callable[[str], subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    made: list[subprocess.Popen[bytes]] = []

    def started(code: str) -> subprocess.Popen[bytes]:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(supervision.spawn(Program([sys.executable, "-c", code], dict(os.environ), folder)))
        return made[-1]

    yield started
    for process in made:
        supervision.kill(process.pid)
        if process.returncode is None:
            supervision.reap(process)


def test_which_of_two_ended_first(start: Start) -> None:
    sleeping, short = start("import time; time.sleep(60)"), start("pass")
    assert supervision.wait(sleeping.pid, 10.0, short.pid) == short.pid
    assert supervision.wait(short.pid, 10.0, sleeping.pid) == short.pid
    assert supervision.wait(sleeping.pid, 0.0) is None


def test_how_it_ended_is_known_before_it_is_fetched(start: Start) -> None:
    process = start("raise SystemExit(3)")
    assert supervision.wait(process.pid, 10.0) == process.pid
    assert supervision.exit_status(process.pid) == 3
    assert supervision.reap(process)[0] == 3
    killed = start("import time; time.sleep(60)")
    assert supervision.exit_status(killed.pid) is None
    supervision.kill(killed.pid)
    supervision.wait(killed.pid, 10.0)
    assert supervision.exit_status(killed.pid) == -signal.SIGKILL


def test_one_that_somebody_halted(start: Start, until: Callable[..., object]) -> None:
    process = start("import time; time.sleep(60)")
    assert supervision.is_halted(process.pid) is False
    os.kill(process.pid, signal.SIGSTOP)
    until(lambda: supervision.is_halted(process.pid))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (0, "ended with exit status 0"),
        (2, "ended with exit status 2"),
        (-9, "was killed by SIGKILL (by the kernel when memory runs out, or by someone)"),
        (-11, "was killed by SIGSEGV"),
        (-64, "was killed by SIGRTMAX"),
        (-77, "was killed by signal 77"),
    ],
)
def test_how_it_ended_in_words(status: int, said: str) -> None:
    assert supervision.describe_exit(status) == said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
@pytest.mark.parametrize("inside", [False, True])
def test_it_becomes_somebody_else_and_still_dies_with_us(inside: bool, tmp_path: Path) -> None:
    code = (
        "import ctypes, os; number = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(number)); "
        "print(os.geteuid(), number.value)"
    )
    user = User("nobody", 65534, 65534, inside)
    argv = ["/usr/bin/env", "python3", "-c", code]
    process = supervision.spawn(Program(argv, {"PATH": "/usr/bin:/bin"}, tmp_path, user))
    assert supervision.wait(process.pid, 20.0) == process.pid
    supervision.reap(process)
    assert (tmp_path / "stdout").read_text() == f"65534 {signal.SIGKILL.value}\n"
