"""Results that someone took out: kept where they are, counted no more."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from stepgrid.host.files import sync, write_json
from stepgrid.model import plan
from stepgrid.store.paths import RETRACTED, UNDONE
from stepgrid.store.redo_requests import who
from stepgrid.store.stale_summaries import out_of_date
from stepgrid.store.store import Store


@dataclass(frozen=True, slots=True)
class Retraction:
    why: str
    who: str
    when: str

    @property
    def said(self) -> str:
        return f"retracted by {self.who}, {self.when[:16].replace('T', ' ')} UTC: {self.why}"


def of(result: Path) -> Retraction | None:
    """Nothing for one that counts; a note that cannot be read takes it out all the same."""
    path = result / RETRACTED
    if not path.is_file():
        return None
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        return Retraction(str(raw["why"]), str(raw["who"]), str(raw["when"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Retraction("its note cannot be read", "someone", "")


def newest(store: Store, stage: str) -> Retraction | None:
    """Of the newest result, where none counts."""
    found = store.all_results(stage)[-1:]
    return of(found[0]) if found else None


def retract(store: Store, result: Path, why: str) -> None:
    write(store, result, Retraction(why, who(), datetime.now(UTC).isoformat(timespec="microseconds")))


def write(store: Store, result: Path, note: Retraction) -> None:
    """Summaries that may show it are out of date first: a kill in between costs a report, and no truth."""
    _before(store, result.parent.name)
    write_json(result / RETRACTED, asdict(note))


def undo(store: Store, result: Path) -> None:
    """That it was undone is kept: another store may still have the note."""
    _before(store, result.parent.name)
    if note := of(result):
        write_json(result / UNDONE, {"retractions": sorted({*undone(result), identity(result, note)})})
    (result / RETRACTED).unlink(missing_ok=True)
    sync(result)


def undone(result: Path) -> Sequence[str]:
    """The identities of retractions of it that count no more."""
    try:
        raw = json.loads((result / UNDONE).read_text(encoding="utf-8"))["retractions"]
        return [each for each in raw if isinstance(each, str)]
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def identity(result: Path, note: Retraction) -> str:
    return digest(f"{result.parent.name}/{result.name}", note.why, note.who, note.when)


def digest(result: str, why: str, who: str, when: str) -> str:
    """`result`: stage/time."""
    said = {"result": result, "why": why, "who": who, "when": when}
    return hashlib.sha256(plan.encode(said).encode()).hexdigest()


def _before(store: Store, stage: str) -> None:
    store.drop_mark(stage)
    out_of_date(store, {stage})
