"""A store as it was at some time: results that were published later are not in it, and nothing is kept in it."""

from __future__ import annotations

import re
from pathlib import Path

from stepgrid.store.store import Store

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d))?)?)?Z?")


class PastStore(Store):
    def __init__(self, store: Store, until: str, summaries: Path) -> None:
        """`until`: what `moment` makes of a date; `summaries`: a folder for its tables."""
        self.root, self.data = store.root, store.data
        self._until, self._summaries = until, summaries

    def all_results(self, stage: str) -> list[Path]:
        return [each for each in super().all_results(stage) if each.name[: len(self._until)] <= self._until]

    def summary(self, plan: str) -> Path:
        return self._summaries / plan


def moment(text: str) -> str | None:
    """2026-11-20, or with the time of day (UTC): how names of results begin until its end; None: it is no date."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, *clock = found.groups()
    return f"{year}{month}{day}" + (f"T{''.join(part for part in clock if part)}" if clock[0] else "")
