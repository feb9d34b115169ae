"""Points in time as a person reads them: the time of day, with the day where it is another one."""

from __future__ import annotations

from datetime import datetime


def clock(when: float, now: float, seconds: bool = True) -> str:
    then, today = datetime.fromtimestamp(when), datetime.fromtimestamp(now)
    time = f"{then:%H:%M:%S}" if seconds else f"{then:%H:%M}"
    return time if then.date() == today.date() else f"{then:%Y-%m-%d} {time}"
