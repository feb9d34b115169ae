"""A process between a job and a command of its build: nothing that the command started outlives it, or the job.

A script of its own, not a module of the job: `subreaper.py PARENT REPORT WORD…`. The kernel tells it that the job died,
also by kill -9, and gives it the processes that their own parents left. It writes into the descriptor REPORT how the
command ended.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
DEFAULTS = (*ENDING, signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores the last two; a command must not inherit that

_prctl = ctypes.CDLL(None, use_errno=True).prctl


def main(parent: int, report: int, argv: list[str]) -> None:
    os.set_inheritable(report, False)  # pass_fds made it so: the command must not write there
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return
    for number in ENDING:
        signal.signal(number, _on_signal)
    child = os.fork()
    if child == 0:
        _execute(argv, report)
    _, status = os.waitpid(child, 0)
    kill_descendants()
    with suppress(OSError):
        os.write(report, b"status %d\n" % os.waitstatus_to_exitcode(status))


def _execute(argv: list[str], report: int) -> None:
    parent = os.getppid()
    for number in DEFAULTS:
        signal.signal(number, signal.SIG_DFL)
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        if os.getppid() == parent:
            os.execvp(argv[0], argv)
    except OSError as error:
        os.write(report, b"errno %d\n" % (error.errno or 0))
    os._exit(127)


def kill_descendants() -> None:
    """Kill in rounds until no process is left: children of a killed process become ours."""
    with suppress(ChildProcessError):
        while True:
            with open("/proc/thread-self/children", encoding="ascii") as file:  # noqa: PTH123 - pathlib costs its import
                children = [int(pid) for pid in file.read().split()]
            for pid in children:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)


def _on_signal(_number: int, _frame: FrameType | None) -> None:
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    kill_descendants()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
