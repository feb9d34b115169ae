"""stepgrid retract RESULT --why TEXT: takes one result out; it is kept, and counts no more."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stepgrid.cli.shared import spec_arguments
from stepgrid.errors import FAILED, FINE, USAGE, StepgridError
from stepgrid.host.locks import LockBusy, locked
from stepgrid.model.plan import STAGE_PREFIX
from stepgrid.store import retractions
from stepgrid.store.run_lock import NAME
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan


class RetractionError(StepgridError):
    """A result that there is not, or a call that cannot be meant: a sentence."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("result", metavar="RESULT", help="a result's folder, or STAGE/TIME as in `stepgrid results`")
    parser.add_argument("--why", metavar="TEXT", help="the reason; the report prints it")
    parser.add_argument("--undo", action="store_true", help="include the result again")
    spec_arguments.local(parser)


def run(args: argparse.Namespace) -> int:
    spec_arguments.wrong_site(args)
    store = host_plan.store()
    try:
        result = _named(store, args.result)
        with locked(store.lock(NAME), wait=False):
            print(_undone(store, result) if args.undo else _retracted(store, result, args.why))
    except RetractionError as wrong:
        print(wrong, file=sys.stderr)
        return USAGE
    except LockBusy as busy:
        who = ", ".join(map(str, busy.holders)) or "unknown"
        print(f"a run is active in this checkout (pid {who}): nothing was changed; try again later", file=sys.stderr)
        return FAILED
    return FINE


def _retracted(store: Store, result: Path, why: str | None) -> str:
    if not (why or "").strip():
        raise RetractionError("say why: the report does, beside the figures that are left")
    if note := retractions.of(result):
        raise RetractionError(f"{result} is no result that counts: {note.said}")
    retractions.retract(store, result, str(why))
    counts = store.result(result.parent.name)
    if counts is None:
        return f"{result} counts no more: its stage has no other, so the next run measures it"
    return f"{result} counts no more: {counts.name} {'counts again' if counts.name < result.name else 'is newer'}"


def _undone(store: Store, result: Path) -> str:
    if retractions.of(result) is None:
        raise RetractionError(f"{result} was not retracted")
    retractions.undo(store, result)
    newest = store.result(result.parent.name) == result
    return f"{result} counts again" if newest else f"{result} is no longer retracted; a newer one counts"


def _named(store: Store, name: str) -> Path:
    """By its last two parts: stage, and when it was measured."""
    parts = Path(name).parts
    if parts and parts[-1] == "result.json":
        parts = parts[:-1]
    there = store.all_results(parts[-2]) if len(parts) > 1 and parts[-2].startswith(STAGE_PREFIX) else []
    for result in there:
        if result.name == parts[-1]:
            return result
    raise RetractionError(f"there is no result {name}: `stepgrid results SPEC` lists them, as STAGE/TIME")
