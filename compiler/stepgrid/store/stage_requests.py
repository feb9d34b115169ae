"""Requests of people and reports: to measure a stage again, to load a cell more often, to leave a result out."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from stepgrid.host.files import read_json, sync, write_json
from stepgrid.model.plan import encode
from stepgrid.plan.order import LoadRecords
from stepgrid.store.paths import RETRACTED, UNDONE, names_in
from stepgrid.store.plans import outdate_summaries, read_input
from stepgrid.store.store import Store, write_note


def user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user without a name, as in some containers
        return str(os.getuid())


def name_user() -> None:
    """Name a user without a passwd entry, as in some containers, by its id: Snakemake asks for the name."""
    try:
        getpass.getuser()
    except (OSError, KeyError):
        os.environ["LOGNAME"] = str(os.getuid())


def _minute(when: str) -> str:
    return f"{when[:16].replace('T', ' ')} UTC"


# A stage is measured again beside its results until it has one that it had not when that was requested: nothing needs
# to be struck off, and a kill at any moment loses nothing.


@dataclass(frozen=True, slots=True)
class RedoRequest:
    stage: str
    author: str
    when: str
    why: str
    results: tuple[str, ...]  # that there were, retracted ones too

    @property
    def sentence(self) -> str:
        return f"asked for by {self.author}, {_minute(self.when)}{f': {self.why}' if self.why else ''}"

    def to_json(self) -> dict[str, Any]:
        results = [*self.results]
        return {"stage": self.stage, "who": self.author, "when": self.when, "why": self.why, "beside": results}


def request_redo(store: Store, stage: str, why: str, by: str | None = None) -> RedoRequest:
    """Request that a stage is measured again. Its mark stays until a run begins: one that goes on may wait for it."""
    results = tuple(result.name for result in store.all_results(stage))
    request = RedoRequest(stage, by or user_name(), datetime.now(UTC).isoformat(timespec="seconds"), why, results)
    write_note(store.redo_request(stage), request.to_json())
    return request


def withdraw_redo(store: Store, stage: str) -> None:
    store.redo_request(stage).unlink(missing_ok=True)


def note_import(store: Store, stage: str, result: str) -> None:
    """Keep a request open: a result that comes from elsewhere is not the one that was requested here."""
    if request := read_redo_request(store, stage):
        record = request.to_json()
        write_json(store.redo_request(stage), record | {"beside": [*record["beside"], result]})


def read_redo_request(store: Store, stage: str) -> RedoRequest | None:
    """Read the last request, pending or not."""
    try:
        raw: dict[str, Any] = json.loads(store.redo_request(stage).read_text(encoding="utf-8"))
        results = tuple(map(str, raw["beside"]))
        return RedoRequest(stage, str(raw["who"]), str(raw["when"]), str(raw["why"]), results)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def pending_redo(store: Store, stage: str) -> RedoRequest | None:
    """Read a request that is open: all results are those that there were. A stage without any runs anyway."""
    request = read_redo_request(store, stage)
    if request is None or store.result(stage) is None:
        return None
    return request if {result.name for result in store.all_results(stage)} <= {*request.results} else None


def pending_redos(store: Store, stages: Iterable[str] | None = None) -> dict[str, RedoRequest]:
    """Map these stages, or all, to their open requests."""
    names = names_in(store.redo_request("_").parent)
    requested = {name.removesuffix(".json") for name in names if name.endswith(".json") and not name.startswith(".")}
    chosen = requested if stages is None else requested & set(stages)
    return {stage: request for stage in sorted(chosen) if (request := pending_redo(store, stage))}


def is_measured(store: Store, stage: str) -> bool:
    """Tell whether a stage has a result, and no other is requested."""
    return store.result(stage) is not None and pending_redo(store, stage) is None


# More loads of a cell are requested when fewer did not decide what the report is about. A file per cell, named by the
# last stage of its first load: every spec that has the same stages goes on from there.


def load_records(store: Store) -> LoadRecords:
    return LoadRecords(
        partial(requested_loads, store),
        partial(has_result, store),
        partial(requested_profile, store),
        partial(other_loads, store),
    )


def requested_loads(store: Store, stage: str) -> int:
    content = read_input(store.load_request(stage))
    try:
        return int(json.loads(content)["loads"]) if content else 0
    except (ValueError, KeyError, TypeError):
        return 0


def has_result(store: Store, stage: str) -> bool:
    read_input(store.mark(stage))
    return bool(store.results(stage))


def request_loads(store: Store, stage: str, loads: int, why: str) -> None:
    """Request this many loads, never fewer than before: what is measured stays in the report."""
    path = store.load_request(stage)
    if (record := read_json(path)).get("loads", 0) < loads:
        write_note(path, {**record, "loads": loads, "why": why})


def requested_profile(store: Store, stage: str) -> tuple[str, ...]:
    """List the steps of a cell that a report wants profiled."""
    content = read_input(store.load_request(stage))
    try:
        return tuple(map(str, json.loads(content).get("profile", ()))) if content else ()
    except (ValueError, TypeError, AttributeError):
        return ()


def request_profile(store: Store, stage: str, steps: Iterable[str]) -> None:
    """Request that steps of a cell are profiled, beside those of earlier requests."""
    path = store.load_request(stage)
    record = read_json(path)
    names = sorted({*map(str, record.get("profile", ())), *steps})
    if names != record.get("profile"):
        write_note(path, {**record, "profile": names})


def other_loads(store: Store, stage: str) -> Sequence[tuple[str, int]]:
    """List loads of a cell that came from other hosts, each with its host and its number there."""
    content = read_input(store.load_request(stage))
    try:
        return [(str(origin), int(load)) for origin, load in json.loads(content)["others"]] if content else ()
    except (ValueError, KeyError, TypeError):
        return ()


def note_other_loads(store: Store, stage: str, loads: Iterable[tuple[str, int]]) -> None:
    path = store.load_request(stage)
    write_note(path, {**read_json(path), "others": sorted(set(loads))})


def load_request_reason(store: Store, stage: str) -> str:
    return str(read_json(store.load_request(stage)).get("why", ""))


# Results that someone retracted stay where they are and count no more.


@dataclass(frozen=True, slots=True)
class Retraction:
    why: str
    author: str
    when: str

    @property
    def sentence(self) -> str:
        return f"retracted by {self.author}, {_minute(self.when)}: {self.why}"

    def to_json(self) -> dict[str, str]:
        return {"why": self.why, "who": self.author, "when": self.when}


def read_retraction(result: Path) -> Retraction | None:
    """Read why a result does not count; a note that cannot be read takes it out all the same."""
    path = result / RETRACTED
    if not path.is_file():
        return None
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        return Retraction(str(raw["why"]), str(raw["who"]), str(raw["when"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Retraction("its note cannot be read", "someone", "")


def newest_retraction(store: Store, stage: str) -> Retraction | None:
    """Read why the newest result does not count."""
    results = store.all_results(stage)
    return read_retraction(results[-1]) if results else None


def retract(store: Store, result: Path, why: str) -> None:
    when = datetime.now(UTC).isoformat(timespec="microseconds")
    write_retraction(store, result, Retraction(why, user_name(), when))


def write_retraction(store: Store, result: Path, retraction: Retraction) -> None:
    _outdate_result(store, result)
    write_json(result / RETRACTED, retraction.to_json())


def undo_retraction(store: Store, result: Path) -> None:
    """Count a result again, and note which retraction was undone: another store may still have it."""
    _outdate_result(store, result)
    if retraction := read_retraction(result):
        ids = {*undone_retractions(result), retraction_id(result, retraction)}
        write_json(result / UNDONE, {"retractions": sorted(ids)})
    (result / RETRACTED).unlink(missing_ok=True)
    sync(result)


def undone_retractions(result: Path) -> Sequence[str]:
    """List the ids of retractions of a result that count no more."""
    try:
        ids = json.loads((result / UNDONE).read_text(encoding="utf-8"))["retractions"]
        return [name for name in ids if isinstance(name, str)]
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def retraction_id(result: Path, retraction: Retraction) -> str:
    name = f"{result.parent.name}/{result.name}"
    return retraction_digest(name, retraction.why, retraction.author, retraction.when)


def retraction_digest(result: str, why: str, author: str, when: str) -> str:
    """Digest a retraction; `result`: stage/time."""
    record = {"result": result, **Retraction(why, author, when).to_json()}
    return hashlib.sha256(encode(record).encode()).hexdigest()


def _outdate_result(store: Store, result: Path) -> None:
    """Outdate summaries that show a result, before it changes: a kill in between costs a report, and no truth."""
    store.drop_mark(result.parent.name)
    outdate_summaries(store, {result.parent.name})
