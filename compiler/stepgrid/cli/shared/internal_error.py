"""What is printed in place of a traceback where a command stops for a reason that nobody foresaw."""

from __future__ import annotations

import os
from pathlib import Path
from traceback import extract_tb

from stepgrid.host.files import STALE_HINT, is_stale
from stepgrid.model.package_data import PACKAGE

SHOWN = "STEPGRID_TRACEBACK"  # a variable: with a value in it Python's own traceback is printed
_LONGEST = 200  # characters of what the error says


def sentence(command: str, error: Exception) -> str | None:
    """None where the traceback is asked for."""
    if os.environ.get(SHOWN):
        return None
    if is_stale(error):
        where = getattr(error, "filename", None) or "a file"
        return f"`stepgrid {command}` stopped: {where}: stale file handle\n   = {STALE_HINT}"
    said = " ".join(str(error).split())[:_LONGEST]
    what = f"{type(error).__name__}{f': {said}' if said else ''}"
    return (
        f"`stepgrid {command}` stopped at an internal error: {what}{_place(error)}\n"
        f"   = a damaged file under outputs/, or a fault of stepgrid; {SHOWN}=1 prints where"
    )


def _place(error: Exception) -> str:
    """The innermost line of ours."""
    ours = [frame for frame in extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(PACKAGE)]
    return f" ({Path(ours[-1].filename).relative_to(PACKAGE)}:{ours[-1].lineno})" if ours else ""
