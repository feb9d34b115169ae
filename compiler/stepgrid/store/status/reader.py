"""One look at everything that a plan has in the store: no process is started, no lock taken, nothing written."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stepgrid.host import host_lock
from stepgrid.host.locks import Held, described
from stepgrid.host.machines import foreign
from stepgrid.language.site.site_file import of_environment
from stepgrid.model import status
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage
from stepgrid.model.status import End, Node, Run, Status, Work
from stepgrid.model.units import duration
from stepgrid.plan.files.plan_file import read_header
from stepgrid.store import redo_requests, run_lock, skipped_stages
from stepgrid.store.redo_requests import Asked
from stepgrid.store.status import attempt_end
from stepgrid.store.status.active_run import Runs
from stepgrid.store.status.eta import Ahead, pace
from stepgrid.store.status.results import BROKEN, INTERRUPTED
from stepgrid.store.status.running_attempt import began, doing, has_begun
from stepgrid.store.status.stage_results import Result, Results
from stepgrid.store.store import Store


class Looker:
    """Keeps what does not change from one look to the next."""

    def __init__(self, store: Store, plan: Plan) -> None:
        self.store, self.plan = store, plan
        self._results = Results(store, {})
        self._ahead = Ahead(store, plan)
        self._foreign = foreign(plan.machines, store.root, of_environment())
        self._stages = sorted(plan.stages, key=lambda stage: stage.rank)
        self._titles = {stage.id: stage.title for stage in plan.stages}
        self._runs = Runs(store, plan)

    def look(self) -> Status:
        held = Held()
        run = self._runs.active(held)
        at_work = held.inside(self.store.lock("_").parent)
        own = run if run and run.own else None
        again = redo_requests.all_pending(self.store)
        scene = _Scene(self.store, self._titles, at_work, held.of(host_lock.path()), own, self._unstarted(own), again)
        nodes = {build.id: _build(build, scene) for build in self.plan.builds}
        for stage in self._stages:  # parents rank before their children
            nodes[stage.id] = self._stage(stage, scene, nodes)
        nodes |= self._unneeded(nodes)
        ahead = self._ahead.of(nodes, own is not None, time.time())
        return Status(self.plan, time.time(), run, list(ahead.nodes), ahead.seconds, ahead.about)

    def _unneeded(self, nodes: Mapping[str, Node]) -> dict[str, Node]:
        """Builds that are not here, where all results of theirs are: they were imported."""
        ended = (status.DONE, status.UNSUPPORTED, status.ELSEWHERE)
        needed = {build for stage in self._stages if nodes[stage.id].state not in ended for build in stage.builds}
        used = {build for stage in self._stages for build in stage.builds}
        over = [nodes[build] for build in used - needed if not nodes[build].work]
        return {node.id: replace(node, state=status.DONE, because="", end=None) for node in over}

    def _unstarted(self, run: Run | None) -> Mapping[str, float | None]:
        return skipped_stages.noted(self.store) if run and run.until else {}

    def _stage(self, stage: PlannedStage, scene: _Scene, nodes: Mapping[str, Node]) -> Node:
        node = Node(stage.id, "stage", stage.title, status.LEFT)
        attempts: Sequence[Path] = ()
        if stage.id in scene.at_work:
            attempts = self.store.attempts(stage.id)
            if attempts and attempt_end.is_open(
                attempts[-1]
            ):  # a result may stand beside it, when it is measured again
                return _at_work(node, scene, attempts[-1])
        again = scene.again.get(stage.id)
        if again is None and (result := self._results.of(stage.id)):
            return _done(node, result)
        if stage.hardware in self._foreign:
            return replace(node, state=status.ELSEWHERE, because=f"needs {stage.hardware}")
        if stage.id in scene.at_work:
            return replace(node, state=status.RUNNING, work=Work(scene.at_work[stage.id], doing="starts"))
        if again is not None:
            node = replace(node, because=again.said)
        return scene.ended(node, attempts or self.store.attempts(stage.id), _above(stage, nodes))


@dataclass(frozen=True)
class _Scene:
    """What one look found of the whole, before the nodes."""

    store: Store
    titles: Mapping[str, str]
    at_work: Mapping[str, tuple[int, ...]]  # nodes whose lock is held
    host: tuple[int, ...]  # who holds the host
    run: Run | None  # of this plan
    unstarted: Mapping[str, float | None]
    again: Mapping[str, Asked]  # stages that are to be measured beside the results that they have

    def ended(self, node: Node, attempts: Sequence[Path], above: Node | None) -> Node:
        """Nobody is at work on it, and it has no result."""
        end = attempt_end.end(attempts)
        if end and end.status == attempt_end.KILLED:
            return replace(node, state=status.KILLED, because=end.message, end=end)
        if end and end.status == "failed" and not self._is_tried_again(end):
            return replace(node, state=status.FAILED, because=end.message, end=end)
        if above and above.state in (status.FAILED, status.KILLED, status.BLOCKED):
            return replace(node, state=status.BLOCKED, because=f"{above.title}: {above.state}", end=end)
        if above and above.state == status.UNSUPPORTED:
            return replace(node, state=status.UNSUPPORTED, because=above.because)
        if node.id in self.unstarted:
            return replace(node, because=self._late(self.unstarted[node.id]), end=end)
        return replace(node, because=node.because or _before(end), end=end)

    def _is_tried_again(self, end: End) -> bool:
        """By the run that is active: it began after that attempt ended."""
        return self.run is not None and self.run.started is not None and end.when < self.run.started

    def _late(self, seconds: float | None) -> str:
        needs = "" if seconds is None else f"needs about {duration(seconds)}, "
        return f"{needs}more than is left of {self.run.until if self.run else 'the time'}"


def _above(stage: PlannedStage, nodes: Mapping[str, Node]) -> Node | None:
    """What has to be there first: the parent, else the builds."""
    parent = nodes.get(stage.parent) if stage.parent else None
    builds = [nodes[build] for build in stage.builds if build in nodes]
    bad = [each for each in (*builds, parent) if each and each.state not in (status.DONE, status.LEFT)]
    return bad[0] if bad else parent or next(iter(builds), None)


def _before(end: End | None) -> str:
    if end is None:
        return ""
    return f"tried before: {end.message}" if end.status == "failed" else end.message


def _at_work(node: Node, scene: _Scene, attempt: Path) -> Node:
    work = doing(attempt, scene.at_work[node.id], scene.titles)
    if has_begun(attempt):
        return replace(node, state=status.RUNNING, work=work)
    if not set(scene.host) - set(work.pids):
        return replace(node, state=status.RUNNING, work=replace(work, doing="starts"))
    return replace(node, state=status.WAITING, work=replace(work, waits=f"the host: {described(scene.host)}", doing=""))


def _done(node: Node, result: Result) -> Node:
    state = status.DONE if result.status == "done" else status.UNSUPPORTED
    return replace(node, state=state, because=result.reason, seconds=result.seconds, ended=result.ended)


def _build(build: PlannedBuild, scene: _Scene) -> Node:
    node, store = Node(build.id, "build", build.name, status.LEFT), scene.store
    if store.has_build(build.id):
        return replace(node, state=status.DONE)
    attempts = store.attempts(build.id)
    if build.id not in scene.at_work:
        return scene.ended(node, attempts, None)
    pids = scene.at_work[build.id]
    if attempts and attempt_end.is_open(attempts[-1]):
        return replace(node, state=status.RUNNING, work=Work(pids, attempts[-1], since=began(attempts[-1])))
    others = [pid for pid in scene.host if pid not in pids]
    waits = f"the host: {described(others)}" if others else ""
    return replace(node, state=status.WAITING if waits else status.RUNNING, work=Work(pids, waits=waits))


# How far a plan is: stages done, failed and left, and how long the rest will take.


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
    others = foreign(header["machines"], store.root, of_environment())
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
