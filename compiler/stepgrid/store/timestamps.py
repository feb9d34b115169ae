"""What comes later looks later, also when the clock was set back in between: names by time, and times of files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

NAME = "%Y%m%dT%H%M%S.%fZ"
TIME = r"\d{8}T\d{6}\.\d{6}Z"  # a name as a regular expression
STEP = timedelta(microseconds=1)
_CLOCKS = timedelta(days=1)  # that clocks of two hosts may differ by
LAST = datetime.max.strftime(NAME)  # nothing sorts after it


def name(before: Iterable[str]) -> str:
    """The present time, as a name that sorts after those that are there."""
    times = [datetime.now(UTC), *(time + STEP for text in before if text != LAST and (time := _time(text)))]
    return max(times).strftime(NAME)


def future_fault(text: str) -> str | None:
    """Say why a name from another host is no time, or one that ours would have to wait for."""
    if (time := _time(text)) is None:
        return "is named by no time"
    if time > datetime.now(UTC) + _CLOCKS:
        return "lies more than a day in the future: the clock of its host was wrong"
    return None


def touch(made: Iterable[Path], evidence: Iterable[Path]) -> None:
    """What was just made, or is about to be published, is newer than what it was made of, or makes out of date."""
    newest = max(map(_modified, evidence), default=0)
    after = newest + STEP.microseconds * 1000
    for path in made:
        if _modified(path) <= newest:
            with suppress(OSError):
                os.utime(path, ns=(after, after))


def _time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, NAME).replace(tzinfo=UTC)
    except ValueError:
        return None


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def now() -> str:
    return datetime.now(UTC).isoformat()
