"""One look at everything that a plan has in the store: no process is started, no lock taken, nothing written."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stepgrid.host import host_lock
from stepgrid.host.held_locks import Held
from stepgrid.host.lock_holder import described
from stepgrid.host.machines import foreign
from stepgrid.model import status
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage
from stepgrid.model.status import End, Node, Run, Status, Work
from stepgrid.model.units import duration
from stepgrid.store import redo_requests, skipped_stages
from stepgrid.store.redo_requests import Asked
from stepgrid.store.status import attempt_end
from stepgrid.store.status.active_run import Runs
from stepgrid.store.status.remaining_time import Ahead
from stepgrid.store.status.running_attempt import began, doing, has_begun
from stepgrid.store.status.stage_results import Result, Results
from stepgrid.store.store import Store


class Looker:
    """Keeps what does not change from one look to the next."""

    def __init__(self, store: Store, plan: Plan) -> None:
        self.store, self.plan = store, plan
        self._results = Results(store, {})
        self._ahead = Ahead(store, plan)
        self._foreign = foreign(plan.machines, store.root)
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
