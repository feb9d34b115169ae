"""What a killed attempt left running: a keeper ends its command with the job, unless somebody killed the keeper too."""

from __future__ import annotations

from pathlib import Path

from stepgrid.build.environment_variables import COOKIE
from stepgrid.host.processes import process_marks


def end(attempt: Path) -> None:
    process_marks.end(COOKIE, attempt)
