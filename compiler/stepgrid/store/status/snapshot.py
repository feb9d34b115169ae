"""What one look at the store says of a build or stage: its status, why, who is at work, how its last attempt ended."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from stepgrid.host import locks
from stepgrid.host.locks import HeldLock, describe_processes
from stepgrid.model.status import (
    Action,
    ActiveRun,
    ActiveWork,
    AttemptEnd,
    BrokenRecord,
    NodeStatus,
    Result,
    Stage,
    Status,
)
from stepgrid.model.units import duration
from stepgrid.store import active_run, stage_requests
from stepgrid.store.stage_requests import RedoRequest
from stepgrid.store.status import attempts
from stepgrid.store.status.integrity import build_fault
from stepgrid.store.status.results import Marks, Results, broken_text
from stepgrid.store.status.running_attempt import began, doing, has_begun, is_alive_elsewhere
from stepgrid.store.store import Store


@dataclass(frozen=True, slots=True)
class UnchangedFacts:
    """What does not change from one look to the next."""

    results: Results | Marks
    titles: Mapping[str, str]  # of stages
    foreign: Mapping[str, str]  # machine of the plan -> where this host differs from it


class Snapshot:
    """What one look found of the whole, and what that says of each node."""

    def __init__(
        self, store: Store, known: UnchangedFacts, held: HeldLock, run: ActiveRun | None, own: str = ""
    ) -> None:
        """`run`: of this plan. `own`: the stage that this process runs, whatever the kernel tells of locks."""
        self._store, self._known, self._run = store, known, run
        self._at_work = held.inside(store.lock("_").parent) | ({own: (os.getpid(),)} if own else {})
        self._host = held.of(locks.host_lock_path())
        self._skipped = active_run.skipped_stages(self._store) if run and run.until else {}
        self._asked = stage_requests.pending_redos(self._store)
        self._tried, self._measured = (_names(self._store.root / kind) for kind in ("attempts", "results"))
        self._broken: list[BrokenRecord] = []
        self.redo: dict[str, str] = {}  # why a stage is measured beside its result

    def broken(self) -> tuple[BrokenRecord, ...]:
        results = (self._known.results.broken(stage) for stage in self._known.titles)
        return (*self._broken, *chain.from_iterable(results))

    def build(self, build: str, name: str) -> NodeStatus:
        if self._store.has_build(build):
            why = build_fault(folder := self._store.build(build))
            if why is None:
                return NodeStatus(build, name, Status.DONE)
            self._broken.append(BrokenRecord(build, folder, why))
        return self._without_result(build, name, None)

    def stage(self, stage: Stage, nodes: Mapping[str, NodeStatus]) -> NodeStatus:
        if result := self._known.results.of(stage):
            return self._done(stage, result)
        if stage.hardware in self._known.foreign and stage.id not in self._at_work:
            why = f"needs {stage.hardware}: {self._known.foreign[stage.hardware]}"
            return NodeStatus(stage.id, stage.title, Status.ELSEWHERE, why)
        return self._without_result(stage.id, stage.title, _above(stage, nodes))

    def _done(self, stage: Stage, result: Result) -> NodeStatus:
        node = NodeStatus(stage.id, stage.title, result.status, result.reason, result=result, seconds=result.seconds)
        asked = self._asked.get(stage.id)
        if asked is None or stage.hardware in self._known.foreign:
            return node
        tried = self._attempts(stage.id)
        self.redo[stage.id] = self._again(asked, result, tried)
        return replace(node, work=self._work(stage.id, tried))

    def _again(self, asked: RedoRequest, result: Result, tried: Sequence[Path]) -> str:
        since = [attempt for attempt in tried if attempt.name > result.folder.name]
        end = attempts.end(since) if asked.stage not in self._at_work else None
        return f"{asked.sentence}; {end.status}: {end.sentence}" if end else asked.sentence

    def _without_result(self, node: str, title: str, above: NodeStatus | None) -> NodeStatus:
        tried = self._attempts(node)
        if work := self._work(node, tried):
            return NodeStatus(node, title, Status.WAITING if work.waits else Status.RUNNING, work=work)
        if broken := self._lost(node):
            return NodeStatus(node, title, Status.INTERRUPTED, broken_text(broken.folder, broken.why))
        end = attempts.end(tried)
        if end and not self._is_tried_again(end):
            return NodeStatus(node, title, end.status, end.sentence, log=end.log, end=end)
        if above and above.status in (Status.FAILED, Status.BLOCKED):
            return _blocked(node, title, above)
        if above and above.status is Status.UNSUPPORTED:
            return NodeStatus(node, title, Status.UNSUPPORTED, above.reason)
        # most of a large plan is: with its action, as copies of thousands take time
        return NodeStatus(node, title, Status.MISSING, self._missing(node, end), Action.MEASURE, times=1, end=end)

    def _lost(self, node: str) -> BrokenRecord | None:
        return next((each for each in (*self._known.results.broken(node), *self._broken) if each.node == node), None)

    def _missing(self, node: str, end: AttemptEnd | None) -> str:
        if node in self._skipped:
            return self._late(self._skipped[node])
        if end:
            return f"tried before: {end.sentence}"
        note = stage_requests.newest_retraction(self._store, node) if node in self._measured else None
        return f"its result was {note.sentence}" if note else ""

    def _is_tried_again(self, end: AttemptEnd) -> bool:
        """By the run that is active: it began after that attempt ended."""
        return self._run is not None and self._run.started is not None and end.when < self._run.started

    def _late(self, seconds: float | None) -> str:
        needs = "" if seconds is None else f"needs about {duration(seconds)}, "
        return f"{needs}more than is left of {self._run.until if self._run else 'the time'}"

    def _attempts(self, node: str) -> Sequence[Path]:
        return self._store.attempts(node) if node in self._tried else ()

    def _work(self, node: str, tried: Sequence[Path]) -> ActiveWork | None:
        if node not in self._at_work:
            return self._remote_work(node, tried)
        if self._is_over(node, tried):
            return None
        work, has_host = self._doing(node, tried)
        others = [pid for pid in self._host if pid not in work.pids]
        if others and not has_host:
            return replace(work, waits=f"the host: {describe_processes(others)}", doing="")
        return work if has_host else replace(work, doing="starts")

    def _remote_work(self, node: str, tried: Sequence[Path]) -> ActiveWork | None:
        """By a job of a cluster."""
        if not tried or not attempts.is_open(tried[-1]) or not is_alive_elsewhere(tried[-1]):
            return None
        work = doing(tried[-1], (), self._known.titles)
        is_build = node not in self._known.titles
        return replace(work, doing="") if is_build else work if has_begun(tried[-1]) else replace(work, doing="starts")

    def _is_over(self, node: str, tried: Sequence[Path]) -> bool:
        """We hold its lock, and have ended its attempt."""
        return self._at_work[node] == (os.getpid(),) and bool(tried) and not attempts.is_open(tried[-1])

    def _doing(self, node: str, tried: Sequence[Path]) -> tuple[ActiveWork, bool]:
        """And whether it has the host."""
        pids = self._at_work[node]
        if not tried or not attempts.is_open(tried[-1]):
            return ActiveWork(pids), False
        if node not in self._known.titles:
            return ActiveWork(pids, tried[-1], since=began(tried[-1])), True
        return doing(tried[-1], pids, self._known.titles), has_begun(tried[-1])


def _above(stage: Stage, nodes: Mapping[str, NodeStatus]) -> NodeStatus | None:
    """What keeps it from starting: a build, or its parent."""
    first = [nodes[node] for node in (*stage.builds, stage.parent or "") if node in nodes]
    stopping = (Status.FAILED, Status.BLOCKED, Status.UNSUPPORTED)
    return next((node for node in first if node.status in stopping), None)


def _blocked(node: str, title: str, above: NodeStatus) -> NodeStatus:
    reason = f"build {above.title}: {above.reason}" if above.is_build else above.reason
    return NodeStatus(node, title, Status.BLOCKED, reason, cause=above.cause or above.id, log=above.log)


def _names(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))  # noqa: PTH208 - half the time
    except FileNotFoundError:
        return set()
