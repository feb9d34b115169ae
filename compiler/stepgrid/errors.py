"""Errors that reach a person as sentences, the exit statuses of all commands, and Ctrl-C before a command begins."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # in C: importing the module around it takes milliseconds
import sys

FINE = 0
PROBLEMS = 1  # a spec is wrong (SpecError), or what it asks for is not there
USAGE = 2  # the command's words are
FAILED = 3  # a run, or what a command was to do, failed
CLAIM_FAILED = 4
BUSY = 5  # another run goes on, and `--no-wait` was given

_COMMAND = "/stepgrid"  # how the path of the installed script ends: a program that imports us keeps its own handlers


class StepgridError(Exception):
    """Sentences, one or two: what is wrong and where, what was expected."""

    status = FAILED  # of a command that ends with it
    hint = ""  # what to do, ready to be pasted


def silence_interrupts() -> None:
    """End the process by Ctrl-C as by any signal, without Python's traceback, while modules are imported."""
    if (
        sys.argv[:1]
        and sys.argv[0].endswith(_COMMAND)
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def restore_interrupts() -> None:
    """Give Ctrl-C back to Python, whose KeyboardInterrupt a command knows."""
    if sys.argv[:1] and sys.argv[0].endswith(_COMMAND) and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
