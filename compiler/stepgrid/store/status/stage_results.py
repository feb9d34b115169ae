"""The results that stages have; one that was read is not read again while its folder stays as it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from stepgrid.store.status.durations import seconds
from stepgrid.store.status.records import STATUSES, head
from stepgrid.store.store import Store


class Result(NamedTuple):
    status: str
    reason: str
    seconds: float | None
    ended: float | None  # unix time


@dataclass(frozen=True, slots=True)
class Results:
    store: Store
    seen: dict[str, tuple[int, Result | None]]  # by stage: when its folder changed last, and what it holds

    def of(self, stage: str) -> Result | None:
        try:
            changed = self.store.results_of(stage).stat().st_mtime_ns
        except OSError:
            return None
        known = self.seen.get(stage)
        if known is None or known[0] != changed:
            known = self.seen[stage] = (changed, self._read(stage))
        return known[1]

    def _read(self, stage: str) -> Result | None:
        folder = self.store.result(stage)
        record = head(folder / "result.json") if folder else {}
        if record.get("status") not in STATUSES:
            return None
        took = seconds(record) if record["status"] == "done" else None
        return Result(str(record["status"]), str(record.get("reason") or ""), took, _time(record.get("ended")))


def _time(text: object) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None
