"""What became of each build and stage of a plan: everybody asks here. No process, no lock, nothing is written."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property

from stepgrid.host.facts import foreign_machines
from stepgrid.host.files import retry_stale
from stepgrid.host.locks import HeldLock
from stepgrid.language.site import current_site
from stepgrid.model.plan import Header, Plan, runs_already
from stepgrid.model.status import ENDED, MEASURES, Action, NodeStatus, PlanStatus, Result, Stage, Status
from stepgrid.plan import actions
from stepgrid.plan.actions import add_replays, decide_action
from stepgrid.plan.plan_file import outline
from stepgrid.store.images import ImageVerifier
from stepgrid.store.paths import TIME_FORMAT
from stepgrid.store.status.active_run import Runs
from stepgrid.store.status.eta import KINDS, Pace, eta, pace
from stepgrid.store.status.results import Marks, Results
from stepgrid.store.status.snapshot import Snapshot, UnchangedFacts
from stepgrid.store.store import Store


class StatusReader:
    """Keeps what does not change from one look to the next."""

    def __init__(self, store: Store, plan: Plan | Header, own: str = "") -> None:
        """Of an outline, which jobs read, the marks are trusted. `own`: the stage that this process runs."""
        self.store, self.plan = store, plan
        results = Results(store, store.last_look(plan.digest)) if isinstance(plan, Plan) else Marks(store)
        titles = {stage.id: stage.title for stage in plan.stages}
        self._known = UnchangedFacts(results, titles, foreign_machines(plan.machines, store.root, current_site()))
        self._damage, self.own = ImageVerifier(store).damage, own
        self._stages: Sequence[Stage] = sorted(plan.stages, key=lambda stage: (stage.rank, stage.parent or ""))
        self._by_id = {stage.id: stage for stage in self._stages}
        self._servers = {build.id for build in plan.builds if runs_already(build.source)}
        self._runs = Runs(store, plan)
        self._pace = (-1, Pace())

    def read(self) -> PlanStatus:
        now, held = time.time(), HeldLock()
        run = self._runs.active(held)
        own = run if run and run.covers_plan else None
        look = Snapshot(self.store, self._known, held, own, self.own)
        nodes = {build.id: look.build(build.id, build.name) for build in self.plan.builds}
        for stage in self._stages:  # parents rank before their children
            nodes[stage.id] = look.stage(stage, nodes)
        nodes = self._with_actions(nodes, look)
        found = self._pace_of(nodes)
        nodes = {node: self._timed(each, found) for node, each in nodes.items()}
        ahead = eta(nodes.values(), self._by_id, found, own is not None, now)
        return PlanStatus(self.plan, now, run, nodes, ahead, look.broken(), self._known.foreign)

    def _with_actions(self, nodes: Mapping[str, NodeStatus], look: Snapshot) -> dict[str, NodeStatus]:
        found = {node: decide_action(each, look.redo.get(node)) for node, each in nodes.items()}
        for node, why in self._due(found).items():
            found[node] = decide_action(found[node], why)
        return add_replays(found | self._unneeded(found), self._stages, self._damage, self._servers)

    def _due(self, nodes: Mapping[str, NodeStatus]) -> dict[str, str]:
        """What `compare_within` adds to what runs."""
        if not isinstance(self.plan, Plan) or self.plan.report.within is None:
            return {}
        running = {node for node, each in nodes.items() if each.action in MEASURES}
        times = {node: when for node, each in nodes.items() if (when := measured(each.attempt or ""))}
        due = actions.outdated_bases(self.plan, running, times, datetime.now(UTC))
        return {node: why for node, why in due.items() if self._by_id[node].hardware not in self._known.foreign}

    def _unneeded(self, nodes: Mapping[str, NodeStatus]) -> dict[str, NodeStatus]:
        """Builds that were made elsewhere, or that only other machines use, where nothing is left to run with them."""
        uses: dict[str, set[Status | Action]] = defaultdict(set)
        for stage in self._stages:
            node = nodes[stage.id]
            for build in stage.builds:
                uses[build].add(node.action if node.action is Action.REDO else node.status)
        found = {}
        for each in (nodes[build] for build, kinds in uses.items() if kinds <= {*ENDED}):
            if uses[each.id] == {Status.ELSEWHERE} and each.status is not Status.DONE:
                found[each.id] = decide_action(NodeStatus(each.id, each.title, Status.ELSEWHERE))
            elif self.store.has_record_alone(each.id) and not each.work:
                found[each.id] = decide_action(NodeStatus(each.id, each.title, Status.DONE))
        return found

    def _pace_of(self, nodes: Mapping[str, NodeStatus]) -> Pace:
        done = [(self._by_id[node], each.result) for node, each in nodes.items() if each.result]
        if self._pace[0] != len(done):  # not at every look
            forms = self._pace[1].forms
            found = pace(done, forms)
            more = len(found.by_kind) < KINDS
            self._pace = len(done), pace([*done, *self._earlier], forms) if more else found
        return self._pace[1]

    @cached_property
    def _earlier(self) -> Sequence[tuple[Stage, Result]]:
        """Results of earlier plans of the spec: they took about as long."""
        from stepgrid.store.plans import earlier_headers  # seldom, and much to import

        results = Results(self.store, float("inf"))
        stages = {stage.id: stage for plan in earlier_headers(self.store, self.plan) for stage in plan.stages}
        return [(stage, result) for stage in stages.values() if (result := results.of(stage))]

    def _timed(self, node: NodeStatus, found: Pace) -> NodeStatus:
        if node.is_build or node.seconds is not None or node.status is Status.UNSUPPORTED:
            return node
        seconds = found.seconds(self._by_id[node.id])
        return node if seconds is None else replace(node, seconds=seconds)


def job_reader(store: Store, plan: str, own: str = "") -> StatusReader:
    """For a job and the run that starts it, who go by the outline of a plan."""
    return StatusReader(store, retry_stale(lambda: outline(store.plan(plan))), own)


def job_status(store: Store, plan: str) -> PlanStatus:
    return job_reader(store, plan).read()


def build_status(store: Store, build: str) -> NodeStatus:
    """Of a build that no plan needs to have."""
    return Snapshot(store, UnchangedFacts(Marks(store), {}, {}), HeldLock(), None).build(build, build)


def measured(result: str) -> datetime | None:
    """When, by the name of a result."""
    try:
        return datetime.strptime(result, TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None
