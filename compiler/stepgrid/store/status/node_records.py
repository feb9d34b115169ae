"""What the store says of a plan's nodes, read in one look: never more of a file than its beginning and end."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stepgrid.model.plan import Plan
from stepgrid.plan.actions import Known
from stepgrid.store import redo_requests, retractions
from stepgrid.store.status.durations import seconds
from stepgrid.store.status.records import STATUSES, catalogue, head
from stepgrid.store.store import Store

BROKEN = "broken: its result cannot be read"


@dataclass(frozen=True, slots=True)
class Result:
    status: str
    reason: str
    seconds: float | None


def known(store: Store, plan: Plan, elsewhere: Mapping[str, str]) -> Known:
    """`elsewhere`: nodes that plans of other specs have -> such a spec."""
    found = results(store, [stage.id for stage in plan.stages])
    needed = {build for stage in plan.stages if stage.id not in found for build in stage.builds}
    made = [build.id for build in plan.builds if _is_made(store, build.id, needed)]
    unmade = [build.id for build in plan.builds if build.id not in made]
    unmeasured = [stage.id for stage in plan.stages if stage.id not in found]
    again = {node: pending.said for node, pending in redo_requests.all_pending(store, found).items()}
    return Known(
        builds=made,
        results=found,
        again=again | _failed_again(store, again),
        retracted=_retracted(store, unmeasured),
        unsupported={node: result.reason for node, result in found.items() if result.status == "unsupported"},
        elsewhere=_others(store, plan.spec, [*made, *found], elsewhere),
        failures=_failures(store, [*unmade, *unmeasured]) | dict.fromkeys(_broken(store, unmeasured), BROKEN),
        images=_names(store.image("_").parent),
        catalogues={b: catalogue(store, b) for b in made} | dict.fromkeys(unmade) if unmeasured else {},
    )


def _is_made(store: Store, build: str, needed: Collection[str]) -> bool:
    """Of one that was made elsewhere the record is enough, where no stage is left to run with it."""
    return store.has_build(build) or (build not in needed and store.has_record_alone(build))


def results(store: Store, stages: Iterable[str]) -> dict[str, Result]:
    """Of the stages that have one: the newest that is whole, as far as one look can tell."""
    there = _names(store.root / "results")
    found = {}
    for stage in stages:
        if stage in there and (result := _newest(store.results(stage))) is not None:
            found[stage] = result
    return found


def _newest(folders: Sequence[Path]) -> Result | None:
    read = (_result(folder / "result.json") for folder in reversed(folders))
    return next((result for result in read if result.status in STATUSES), None)


def _broken(store: Store, unmeasured: Iterable[str]) -> list[str]:
    """A run keeps such a result among the attempts, and measures again."""
    there = _names(store.root / "results")
    return [stage for stage in unmeasured if stage in there and store.results(stage)]


def _result(path: Path) -> Result:
    record = head(path)
    took = seconds(record) if record.get("status") == "done" else None
    return Result(str(record.get("status", "")), str(record.get("reason") or "no reason given"), took)


def _others(store: Store, spec: str, nodes: Iterable[str], elsewhere: Mapping[str, str]) -> dict[str, str]:
    """Who made a node that other specs have too, where it was not this one."""
    found = {}
    for node in nodes:
        if node in elsewhere and (maker := _maker(store, node)) not in (None, spec):
            found[node] = str(maker)
    return found


def _maker(store: Store, node: str) -> str | None:
    """The spec whose plan a result was measured for."""
    result = store.result(node)
    try:
        plan = json.loads(((result or store.build(node)) / "attempt.json").read_text(encoding="utf-8"))["plan"]
        raw = json.loads((store.plan(plan) / "plan.json").read_text(encoding="utf-8"))
        return str(raw["spec"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _failed_again(store: Store, again: Mapping[str, str]) -> dict[str, str]:
    """What was asked for and tried since, in vain."""
    found = {}
    for node, failure in _failures(store, again).items():
        result = store.result(node)
        if result and store.attempts(node)[-1].name > result.name:
            found[node] = f"{again[node]}; {failure}"
    return found


def _retracted(store: Store, unmeasured: Iterable[str]) -> dict[str, str]:
    there = _names(store.root / "results")
    last = {stage: store.all_results(stage)[-1:] for stage in unmeasured if stage in there}
    notes = {stage: retractions.of(found[0]) for stage, found in last.items() if found}
    return {stage: f"its result was {note.said}" for stage, note in notes.items() if note}


def _failures(store: Store, nodes: Iterable[str]) -> dict[str, str]:
    tried = _names(store.root / "attempts")
    found = {}
    for node in sorted(tried & set(nodes)):
        if attempts := store.attempts(node):
            found[node] = _failure(attempts[-1])
    return found


def _failure(attempt: Path) -> str:
    try:
        record = json.loads((attempt / "failure.json").read_text(encoding="utf-8"))
        step = f"{record['step']}: " if record.get("step") else ""
        return f"{record.get('status', 'failed')}: {step}{record['message']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "running, or killed"


def _names(folder: Path) -> set[str]:
    try:
        return {name for name in os.listdir(folder) if not name.startswith(".")}  # noqa: PTH208 - half the time
    except FileNotFoundError:
        return set()
