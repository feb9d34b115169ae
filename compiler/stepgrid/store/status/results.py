"""What became of each stage of a plan: done, unsupported, failed or missing, with the reason and the log."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepgrid.host.file_reader import content
from stepgrid.host.machines import elsewhere
from stepgrid.language.site.site_file import of_environment
from stepgrid.model.plan import Plan, PlannedStage, called
from stepgrid.store import checksums
from stepgrid.store.store import Store

DONE, UNSUPPORTED, FAILED, MISSING = "done", "unsupported", "failed", "missing"
INTERRUPTED, BROKEN = "interrupted", "broken"  # of an attempt: neither is a failure
ELSEWHERE = "elsewhere: needs "


@dataclass(frozen=True, slots=True)
class State:
    status: str
    reason: str | None = None
    log: str | None = None
    result: Path | None = None
    steps: tuple[Mapping[str, Any], ...] = ()  # of result.json
    folders: tuple[Path, ...] = ()
    files: checksums.Files | None = None  # checksums; older results have none

    @property
    def is_done(self) -> bool:
        return self.status == DONE

    @property
    def attempt(self) -> str | None:
        return self.result.name if self.result else None

    @property
    def elsewhere(self) -> bool:
        """For another machine to measure."""
        return self.status == MISSING and (self.reason or "").startswith(ELSEWHERE)


class BrokenResult(Exception):
    """A result that does not hold what it must."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A result or build that counts no more."""

    node: str
    folder: Path
    why: str


Trust = Callable[[PlannedStage, Path], bool]


def states(store: Store, plan: Plan, trusts: Trust = lambda _stage, _result: False) -> dict[str, State]:
    """Of every stage; a stage without a result of its own takes the reason from its build or an ancestor.

    `trusts`: whether a result was found to be whole before; then its steps are not read again.
    """
    builds = {build.id: _failure(store, build.id, f"build {build.name}") for build in plan.builds}
    known: dict[str, State] = {}
    stages = {stage.id: stage for stage in plan.stages}
    for stage in plan.stages:
        _settle(stage, stages, builds, store, known, trusts)
    for node, machine in elsewhere(plan.machines, plan.stages, store.root, of_environment()).items():
        if known[node].result is None:
            known[node] = State(MISSING, f"{ELSEWHERE}{machine}")
    return known


def _settle(
    stage: PlannedStage,
    stages: Mapping[str, PlannedStage],
    builds: Mapping[str, State | None],
    store: Store,
    known: dict[str, State],
    trusts: Trust,
) -> State:
    if stage.id not in known:
        parent = stages.get(stage.parent) if stage.parent else None
        before = _settle(parent, stages, builds, store, known, trusts) if parent else None
        known[stage.id] = _own(store, stage, trusts) or _inherited(before, _failed(stage, builds))
    return known[stage.id]


def _own(store: Store, stage: PlannedStage, trusts: Trust) -> State | None:
    broken: State | None = None
    for result in reversed(store.results(stage.id)):
        try:
            return State(DONE, result=result) if trusts(stage, result) else read(result, stage)
        except BrokenResult as error:
            broken = broken or State(FAILED, broken_text(result, str(error)))
    return broken or _failure(store, stage.id, called([step.name for step in stage.steps]))


def broken_text(result: Path, why: str) -> str:
    return f"the result {result} is broken: {why}; the next run measures it again"


def _failed(stage: PlannedStage, builds: Mapping[str, State | None]) -> State | None:
    """The first of its builds that cannot be had."""
    return next((state for build in stage.builds if (state := builds.get(build)) is not None), None)


def _inherited(parent: State | None, build: State | None) -> State:
    if build is not None and (parent is None or parent.status != DONE):
        return State(MISSING, build.reason, build.log)
    if parent is None or parent.status == DONE:
        return State(MISSING, "not run yet")
    if parent.status == UNSUPPORTED:
        return State(UNSUPPORTED, parent.reason)
    return State(MISSING, f"not run: {parent.reason}" if parent.status == FAILED else parent.reason, parent.log)


def _failure(store: Store, node: str, what: str) -> State | None:
    """The newest attempt decides; one without failure.json is running, or was killed."""
    attempts = store.attempts(node)
    if store.has_build(node) or not attempts:
        return None
    try:
        raw = json.loads((attempts[-1] / "failure.json").read_text(encoding="utf-8"))
        message, status, log = raw["message"], raw.get("status"), raw.get("log")
    except (OSError, ValueError, KeyError, TypeError):
        return State(MISSING, f"{what}: running, or killed", str(attempts[-1]))
    where = raw.get("step") or what
    return State(
        MISSING if status in (INTERRUPTED, BROKEN) else FAILED, f"{where}: {message}", log or str(attempts[-1])
    )


def read(result: Path, stage: PlannedStage) -> State:
    """Trusts nothing: a kill, a copy or a hand may have left anything here."""
    record = _record(result, stage)
    if record["status"] == UNSUPPORTED:
        return State(UNSUPPORTED, record.get("reason") or "no reason given", None, result, files=_files(record))
    steps = record.get("steps")
    if not isinstance(steps, list) or len(steps) != len(stage.steps):
        found = len(steps) if isinstance(steps, list) else "no"
        raise BrokenResult(f"result.json lists {found} steps, the plan has {len(stage.steps)}")
    folders = _folders(result, len(steps))
    return State(DONE, None, None, result, tuple(steps), folders, _files(record))


def _record(result: Path, stage: PlannedStage) -> dict[str, Any]:
    from pydantic_core import from_json  # as json.loads, in half its time

    try:
        record = from_json(content(f"{result}/result.json"))
    except FileNotFoundError:
        raise BrokenResult("result.json is missing") from None
    except (OSError, ValueError) as error:
        raise BrokenResult(f"result.json cannot be read ({error})") from None
    if not isinstance(record, dict) or record.get("status") not in (DONE, UNSUPPORTED):
        raise BrokenResult("result.json has no status that a result may have (done, unsupported)")
    if record.get("stage") != stage.id:
        raise BrokenResult(f"result.json is of stage {record.get('stage')}, not {stage.id}")
    return record


def changed(state: State) -> str | None:
    """A sentence about a file that is not what was published, of a result that has checksums."""
    return checksums.difference(state.result, state.files) if state.result and state.files else None


def _files(record: Mapping[str, Any]) -> checksums.Files | None:
    """Whole or not at all: a record that was edited by hand holds no checksums."""
    files = record.get("files")
    entries = files.values() if isinstance(files, dict) else [None]
    return files if all(isinstance(each, dict) and {"bytes", "sha256"} <= each.keys() for each in entries) else None


def _folders(result: Path, count: int) -> tuple[Path, ...]:
    """By the index alone: the name behind it is the label that the step had when it ran."""
    found: dict[int, Path] = {}
    for entry in result.glob("steps/*-*"):
        index = entry.name.split("-")[0]
        if index.isdecimal() and entry.is_dir():
            found[int(index)] = entry
    if missing := [index for index in range(count) if index not in found]:
        raise BrokenResult(f"the folder of step {missing[0]} is missing under steps/")
    return tuple(found[index] for index in range(count))
