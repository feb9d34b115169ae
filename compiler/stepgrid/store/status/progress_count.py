"""How far a plan is: stages done, failed and left, and how long the rest will take."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepgrid.host.machines import foreign
from stepgrid.plan.files.plan_file import read_header
from stepgrid.store import run_lock
from stepgrid.store.status.eta import pace
from stepgrid.store.status.results import BROKEN, INTERRUPTED
from stepgrid.store.store import Store


@dataclass(frozen=True, slots=True)
class Tally:
    total: int
    done: int
    failed: int  # in this run, with the stages that cannot start because of it
    left: int  # not started yet
    seconds: float | None  # that those left will take, and the one that runs; None = unknown
    about: bool = False  # some of it by declared durations alone
    running: int = 0
    elsewhere: int = 0  # for another machine to measure; not in the total


def count(store: Store, plan: str, running: str | None = None) -> Tally:
    """The state of a plan while `running` runs (a stage, or None)."""
    header = read_header(store.plan(plan))
    stages: list[dict[str, Any]] = header["stages"]
    done = {stage["id"]: stage for stage in stages if store.mark(stage["id"]).exists()}
    others = foreign(header["machines"], store.root)
    ahead = [stage for stage in stages if stage["id"] not in done and stage["hardware"] not in others]
    failed = _failed(store, ahead, (build["id"] for build in header["builds"])) - {running}
    ahead = [stage for stage in ahead if stage["id"] not in failed]
    found = pace(store, done)
    known = all(stage["seconds"] > 0 for stage in ahead)
    return Tally(
        total=len(done) + len(ahead) + len(failed),
        done=len(done),
        failed=len(failed),
        left=sum(stage["id"] != running for stage in ahead),
        seconds=sum(map(found.seconds, ahead)) if known else None,
        about=not all(map(found.knows, ahead)),
        running=sum(stage["id"] == running for stage in ahead),
        elsewhere=len(stages) - len(done) - len(ahead) - len(failed),
    )


def _failed(store: Store, ahead: list[dict[str, Any]], builds: Iterable[str]) -> set[str]:
    """Stages that failed since this run began, and those that wait for one, or for a build, that did."""
    since = _run_began(store)
    if since is None:
        return set()
    bad = {node for node in (*builds, *(s["id"] for s in ahead)) if _failed_since(store, node, since)}
    for stage in sorted(ahead, key=lambda stage: int(stage["rank"])):  # parents rank before their children
        if bad & {stage["parent"], stage["build"]}:
            bad.add(stage["id"])
    return bad & {stage["id"] for stage in ahead}


def _failed_since(store: Store, node: str, since: float) -> bool:
    if store.mark(node).exists():
        return False
    return any(_has_failed(attempt / "failure.json", since) for attempt in store.attempts(node)[-1:])


def _has_failed(failure: Path, since: float) -> bool:
    """What was interrupted, or put aside since it broke, is work that is left."""
    if _modified(failure) < since:
        return False
    try:
        return json.loads(failure.read_text(encoding="utf-8")).get("status") not in (INTERRUPTED, BROKEN)
    except (OSError, ValueError, AttributeError):
        return True


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return -1.0


def _run_began(store: Store) -> float | None:
    """When the run that is active here took its lock."""
    found = run_lock.record(store)
    return found.started.timestamp() if found else None
