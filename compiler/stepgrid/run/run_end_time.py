"""When a run is to stop: `--until 6h` or `--until 07:30`, as its jobs find it in their environment."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from stepgrid.model.units import UnitError, quantity

VARIABLE = "STEPGRID_UNTIL"  # "<unix time> <as it was given>"
EXPECTED = "a duration such as 6h, 90m or 1h30m, or a time of day such as 07:30"
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII)
_PART = r"\d+(?:\.\d+)?\s*[a-z]+"


@dataclass(frozen=True, slots=True)
class RunEndTime:
    at: float  # unix time
    text: str  # as it was given


def read(text: str, now: float) -> RunEndTime | None:
    """None for what is neither a duration nor a time of day; a time of day is the next one."""
    given = text.strip()
    if clock := _CLOCK.fullmatch(given):
        return RunEndTime(_next(int(clock[1]), int(clock[2]), now), given)
    seconds = _seconds(given)
    return RunEndTime(now + seconds, given) if seconds else None


def use(given: object) -> None:
    """From here on, for every job that this process starts; ValueError says what was expected.

    Asked for twice in one process, or again by a job of a cluster, it is the first time that counts.
    """
    if given is None:
        os.environ.pop(VARIABLE, None)
        return
    found, known = read(str(given), time.time()), in_force()
    if found is None:
        raise ValueError(f"until={given}: expected {EXPECTED}")
    if known is None or known.text != found.text:
        os.environ[VARIABLE] = f"{found.at} {found.text}"


def in_force() -> RunEndTime | None:
    at, _, text = os.environ.get(VARIABLE, "").partition(" ")
    try:
        return RunEndTime(float(at), text)
    except ValueError:
        return None


def _seconds(text: str) -> float:
    """Of `6h`, or of several parts, `1h30m`; 0 for what is no duration."""
    if not re.fullmatch(f"(?:{_PART})+", text, re.ASCII):
        return 0.0
    try:
        return float(sum(quantity(part, "duration") for part in re.findall(_PART, text, re.ASCII)))
    except UnitError:
        return 0.0


def _next(hour: int, minute: int, now: float) -> float:
    today = datetime.fromtimestamp(now).replace(hour=hour, minute=minute, second=0, microsecond=0)
    found = today if today.timestamp() > now else today + timedelta(days=1)
    return found.timestamp()
