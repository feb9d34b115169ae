"""Requests of people and reports: to measure a stage again, to load a cell more often, to leave a result out."""

from __future__ import annotations

import getpass
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from stepgrid.host.files import find_record, read_record, sync, write_json
from stepgrid.model.plan import encode
from stepgrid.model.records import LoadRequest, RedoRequest, Retraction, UndoneRetractions, parse_record, replace
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


# A stage is measured again beside its results until it has one that it had not when that was requested: nothing needs
# to be struck off, and a kill at any moment loses nothing.


def request_redo(store: Store, stage: str, why: str, by: str | None = None) -> RedoRequest:
    """Request that a stage is measured again. Its mark stays until a run begins: one that goes on may wait for it."""
    results = tuple(result.name for result in store.all_results(stage))
    when = datetime.now(UTC).isoformat(timespec="seconds")
    request = RedoRequest(stage=stage, author=by or user_name(), when=when, why=why, results=results)
    write_note(store.redo_request(stage), request)
    return request


def withdraw_redo(store: Store, stage: str) -> None:
    store.redo_request(stage).unlink(missing_ok=True)


def note_import(store: Store, stage: str, result: str) -> None:
    """Keep a request open: a result that comes from elsewhere is not the one that was requested here."""
    if request := read_redo_request(store, stage):
        write_json(store.redo_request(stage), replace(request, results=(*request.results, result)))


def read_redo_request(store: Store, stage: str) -> RedoRequest | None:
    """Read the last request, pending or not."""
    return find_record(store.redo_request(stage), RedoRequest)


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
        partial(_read_load_request, store),
    )


def requested_loads(store: Store, stage: str) -> int:
    return _read_load_request(store, stage).loads


def has_result(store: Store, stage: str) -> bool:
    read_input(store.mark(stage))
    return bool(store.results(stage))


def request_loads(store: Store, stage: str, loads: int, why: str) -> None:
    """Request this many loads, never fewer than before: what is measured stays in the report."""
    path = store.load_request(stage)
    if (record := read_record(path, LoadRequest)).loads < loads:
        write_note(path, replace(record, loads=loads, why=why))


def requested_profile(store: Store, stage: str) -> tuple[str, ...]:
    """List the steps of a cell that a report wants profiled."""
    return _read_load_request(store, stage).profile


def request_profile(store: Store, stage: str, steps: Iterable[str]) -> None:
    """Request that steps of a cell are profiled, beside those of earlier requests."""
    path = store.load_request(stage)
    record = read_record(path, LoadRequest)
    names = tuple(sorted({*record.profile, *steps}))
    if names != record.profile:
        write_note(path, replace(record, profile=names))


def other_loads(store: Store, stage: str) -> Sequence[tuple[str, int]]:
    """List loads of a cell that came from other hosts, each with its host and its number there."""
    return _read_load_request(store, stage).other_loads


def note_other_loads(store: Store, stage: str, loads: Iterable[tuple[str, int]]) -> None:
    path = store.load_request(stage)
    write_note(path, replace(read_record(path, LoadRequest), other_loads=tuple(sorted(set(loads)))))


def advance_search(
    store: Store, key: str, points: Iterable[Mapping[str, str]], finalists: tuple[str, ...], why: str
) -> None:
    """Add the points that a search tries next, or its finalists, all at once: a kill leaves none of them out."""
    path = store.load_request(key)
    record = read_record(path, LoadRequest)
    missing = [point for point in points if point not in record.points]
    if missing or finalists:
        finalists = finalists or record.finalists
        write_note(path, replace(record, points=(*record.points, *missing), finalists=finalists, why=why))


def load_request_reason(store: Store, stage: str) -> str:
    return read_record(store.load_request(stage), LoadRequest).why


def _read_load_request(store: Store, stage: str) -> LoadRequest:
    """Read a note that a plan depends on."""
    try:
        return parse_record(read_input(store.load_request(stage)) or b"", LoadRequest)
    except ValueError:
        return LoadRequest()


# Results that someone retracted stay where they are and count no more.


def read_retraction(result: Path) -> Retraction | None:
    """Read why a result does not count; a note that cannot be read takes it out all the same."""
    path = result / RETRACTED
    if not path.is_file():
        return None
    return find_record(path, Retraction) or Retraction(why="its note cannot be read", author="someone", when="")


def newest_retraction(store: Store, stage: str) -> Retraction | None:
    """Read why the newest result does not count."""
    results = store.all_results(stage)
    return read_retraction(results[-1]) if results else None


def retract(store: Store, result: Path, why: str) -> None:
    when = datetime.now(UTC).isoformat(timespec="microseconds")
    write_retraction(store, result, Retraction(why=why, author=user_name(), when=when))


def write_retraction(store: Store, result: Path, retraction: Retraction) -> None:
    _outdate_result(store, result)
    write_json(result / RETRACTED, retraction)


def undo_retraction(store: Store, result: Path) -> None:
    """Count a result again, and note which retraction was undone: another store may still have it."""
    _outdate_result(store, result)
    if retraction := read_retraction(result):
        ids = {*undone_retractions(result), retraction_id(result, retraction)}
        write_json(result / UNDONE, UndoneRetractions(tuple(sorted(ids))))
    (result / RETRACTED).unlink(missing_ok=True)
    sync(result)


def undone_retractions(result: Path) -> Sequence[str]:
    """List the ids of retractions of a result that count no more."""
    return read_record(result / UNDONE, UndoneRetractions).retractions


def retraction_id(result: Path, retraction: Retraction) -> str:
    name = f"{result.parent.name}/{result.name}"
    return retraction_digest(name, retraction.why, retraction.author, retraction.when)


def retraction_digest(result: str, why: str, author: str, when: str) -> str:
    """Digest a retraction; `result`: stage/time."""
    record = {"result": result, "why": why, "who": author, "when": when}
    return hashlib.sha256(encode(record).encode()).hexdigest()


def _outdate_result(store: Store, result: Path) -> None:
    """Outdate summaries that show a result, before it changes: a kill in between costs a report, and no truth."""
    store.drop_mark(result.parent.name)
    outdate_summaries(store, {result.parent.name})
