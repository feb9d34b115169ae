"""Ctrl-C while the first modules are imported: the process ends as by any signal, without Python's traceback.

Imported before all else; a command gives the signal back to Python, whose KeyboardInterrupt it knows, as it starts."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # in C: importing the module around it takes milliseconds
import sys

_COMMAND = "/stepgrid"  # how the path of the installed script ends: a program that imports us keeps its own handlers


def silence() -> None:
    if _is_ours() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def give_back() -> None:
    if _is_ours() and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_ours() -> bool:
    return bool(sys.argv) and sys.argv[0].endswith(_COMMAND)
