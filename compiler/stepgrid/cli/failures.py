"""Errors that end a command: each becomes a sentence, a hint and an exit status."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

from stepgrid.errors import FAILED, USAGE, StepgridError
from stepgrid.package import CODE, PACKAGE

TRACEBACK = "STEPGRID_TRACEBACK"  # an environment variable: if set, Python prints its own traceback
_MOST_LETTERS = 200  # of an unexpected error's message


class CommandError(StepgridError):
    """A command that cannot do what it was asked to do."""

    def __init__(self, sentence: str, status: int = USAGE) -> None:
        super().__init__(sentence)
        self.status = status


@contextmanager
def ending_with(status: int, *errors: type[Exception]) -> Iterator[None]:
    """End the command with the error's own sentence and this exit status."""
    try:
        yield
    except errors as error:
        raise CommandError(str(error), status) from error


@contextmanager
def unless_busy(sentence: str) -> Iterator[None]:
    """End the command where a lock is busy; the sentence has `{}` for the processes that hold it."""
    from stepgrid.host.locks import LockBusy

    try:
        yield
    except LockBusy as error:
        holders = ", ".join(map(str, error.holders)) or "unknown"
        raise CommandError(sentence.format(holders), FAILED) from error


def describe(error: Exception, command: str) -> tuple[str, int] | None:
    """Return what to print and the exit status; None if Python shall print its traceback."""
    from stepgrid.collect.query import NoTables
    from stepgrid.plugins.registry import PluginError
    from stepgrid.store import active_run
    from stepgrid.workflow import host_plan

    if isinstance(error, StepgridError):
        return f"{error}\n   = {error.hint}" if error.hint else str(error), error.status
    if isinstance(error, PluginError | NoTables):
        return str(error), USAGE
    if active_run.is_full_disk_error(error):
        sentence = active_run.full_disk_sentence(host_plan.store())
    elif os.environ.get(TRACEBACK):
        return None
    else:
        sentence = unexpected(command, error)
    return sentence, FAILED


def unexpected(command: str, error: Exception) -> str:
    """Name the error and the innermost line of stepgrid's, instead of a traceback."""
    from stepgrid.host.files import STALE_HINT, is_stale

    if is_stale(error):
        path = getattr(error, "filename", None) or "a file"
        return f"`stepgrid {command}` stopped: {path}: stale file handle\n   = {STALE_HINT}"
    frames = [(Path(frame.filename), frame.lineno) for frame in extract_tb(error.__traceback__)]
    own_frames = [(path, line) for path, line in frames if any(path.is_relative_to(folder) for folder in CODE)]
    line = f" ({own_frames[-1][0].relative_to(PACKAGE.parent)}:{own_frames[-1][1]})" if own_frames else ""
    message = " ".join(str(error).split())[:_MOST_LETTERS]
    return (
        f"`stepgrid {command}` stopped at an internal error: "
        f"{type(error).__name__}{f': {message}' if message else ''}{line}\n"
        f"   = a damaged file under outputs/, or a fault of stepgrid; {TRACEBACK}=1 prints where"
    )
