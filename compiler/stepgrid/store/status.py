"""Status of each build and stage of a plan: everybody asks here. No process is started, no lock taken, nothing written.

A status has its reason, the action of the next run, who is at work on it, and the time that it takes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

from msgspec import Struct

from stepgrid.host.facts import foreign_machines
from stepgrid.host.files import read_record, retry_stale
from stepgrid.host.locks import HeldLock, host_wait
from stepgrid.language.site import current_site
from stepgrid.model.plan import Plan, PlannedStage, runs_already
from stepgrid.model.records import BuildRecord, RunRecord, replace
from stepgrid.model.status import (
    ENDED,
    MEASURES,
    Action,
    ActiveRun,
    ActiveWork,
    AttemptEnd,
    BrokenRecord,
    Eta,
    NodeStatus,
    PlanStatus,
    Result,
    RunAhead,
    Status,
    add_times,
)
from stepgrid.model.units import duration
from stepgrid.plan import plan_file
from stepgrid.plan.actions import add_replays, decide_action, outdated_bases
from stepgrid.plan.pace import Forms, MeasuredStage, Pace
from stepgrid.plan.plan_file import DAMAGED
from stepgrid.store.active_run import active_run_record, queued_runs, skipped_stages
from stepgrid.store.attempts import attempt_end, has_begun, is_alive_elsewhere, is_open, read_work, start_time
from stepgrid.store.images import ImageVerifier
from stepgrid.store.paths import BUILD_FILE, RUN_LOCK, names_in, parse_time_name
from stepgrid.store.plans import earlier_plans, stage_ids
from stepgrid.store.results import Results, broken_sentence, build_fault
from stepgrid.store.stage_requests import newest_retraction, pending_redos
from stepgrid.store.store import Store


class StatusReader:
    """Reader of a plan's status, again and again; it keeps what does not change from one look to the next."""

    def __init__(self, store: Store, plan: Plan, in_run: bool = False) -> None:
        """`in_run`: the run that is active has decided what is measured."""
        self.store, self.plan, self._in_run = store, plan, in_run
        results = Results(store)
        titles = {stage.id: stage.title for stage in plan.stages}
        self._facts = _Facts(results, titles, foreign_machines(plan.machines, store.root, current_site()))
        self._damage = ImageVerifier(store).damage
        self._stages: Sequence[PlannedStage] = sorted(plan.stages, key=lambda stage: (stage.rank, stage.parent or ""))
        self._by_id = {stage.id: stage for stage in self._stages}
        self._servers = {build.id for build in plan.builds if runs_already(build.source)}
        self._covering_plans: dict[str, bool] = {}  # by digest of a run's plan
        self._forms = Forms()
        self._forms.add(plan)
        self._pace = ((-1, 0), Pace(self._forms))  # with the numbers of results and steps that it comes from

    def read(self) -> PlanStatus:
        now, locks = time.time(), HeldLock()
        run = self._active_run(locks)
        run_of_plan = run if run and run.covers_plan and not run.ahead else None
        snapshot = _Snapshot(self.store, self._facts, locks, run_of_plan)
        nodes = {build.id: snapshot.build(build.id, build.name) for build in self.plan.builds}
        for stage in self._stages:  # parents rank before their children
            nodes[stage.id] = snapshot.stage(stage, nodes)
        nodes = self._with_actions(nodes, snapshot)
        pace = self._current_pace(nodes)
        nodes = {node: self._with_seconds(status, pace) for node, status in nodes.items()}
        eta = self._time_left(nodes.values(), pace, run_of_plan is not None, now)
        waited = run_of_plan.waited + sum_waits(nodes.values(), run_of_plan.started, now) if run_of_plan else 0.0
        return PlanStatus(self.plan, now, run, nodes, eta, snapshot.broken(), self._facts.foreign, waited)

    def _active_run(self, locks: HeldLock) -> ActiveRun | None:
        """Describe the run that holds the lock, or one of this plan that waits for its turn."""
        pids, queue = locks.of(self.store.lock(RUN_LOCK)), queued_runs(self.store)
        holder = active_run_record(self.store, pids) if pids else None
        run = self._describe_run(holder) if holder else None
        if run is None or not run.covers_plan:
            for position, record in enumerate(queue):
                if (queued := self._describe_run(record)).covers_plan:
                    ahead = [*([holder] if holder else []), *queue[:position]]
                    return replace(queued, ahead=describe_ahead(self.store, ahead))
        if pids and run is None:  # it is writing who it is
            return ActiveRun(pids[0], None, "")
        return run

    def _describe_run(self, run: RunRecord) -> ActiveRun:
        is_exact = run.plan == self.plan.digest if run.plan else run.spec == self.plan.spec
        covers_plan = is_exact or self._is_covered_by(run)
        started = run.started.timestamp()
        return ActiveRun(run.pid, started, run.spec, run.until, run.stops, covers_plan, is_exact, run.waited)

    def _is_covered_by(self, run: RunRecord) -> bool:
        """Tell whether our plan is a part of the run's, as with `--only`."""
        if run.spec != self.plan.spec:
            return False
        if run.plan not in self._covering_plans:
            stages = set(stage_ids(self.store.plan(run.plan)))
            self._covering_plans[run.plan] = {stage.id for stage in self.plan.stages} <= stages
        return self._covering_plans[run.plan]

    def _with_actions(self, nodes: Mapping[str, NodeStatus], snapshot: _Snapshot) -> dict[str, NodeStatus]:
        actions = {node: decide_action(status, snapshot.redo.get(node)) for node, status in nodes.items()}
        for node, why in self._due_bases(actions).items():
            actions[node] = decide_action(actions[node], why)
        return add_replays(actions | self._unneeded_builds(actions), self._stages, self._damage, self._servers)

    def _due_bases(self, nodes: Mapping[str, NodeStatus]) -> dict[str, str]:
        """Find the stages that `compare_within` adds to what runs, and why."""
        if self._in_run or self.plan.report.within is None:
            return {}
        running = {node for node, status in nodes.items() if status.action in MEASURES}
        times = {node: when for node, status in nodes.items() if (when := parse_time_name(status.attempt or ""))}
        due = outdated_bases(self.plan, running, times, datetime.now(UTC))
        return {node: why for node, why in due.items() if self._by_id[node].hardware not in self._facts.foreign}

    def _unneeded_builds(self, nodes: Mapping[str, NodeStatus]) -> dict[str, NodeStatus]:
        """Find builds that were made elsewhere, or that only other machines use, with nothing left to run."""
        uses: dict[str, set[Status | Action]] = defaultdict(set)
        for stage in self._stages:
            node = nodes[stage.id]
            for build in stage.builds:
                uses[build].add(node.action if node.action is Action.REDO else node.status)
        unneeded = {}
        for node in (nodes[build] for build, kinds in uses.items() if kinds <= {*ENDED}):
            if uses[node.id] == {Status.ELSEWHERE} and node.status is not Status.DONE:
                unneeded[node.id] = decide_action(NodeStatus(node.id, node.title, Status.ELSEWHERE))
            elif self.store.has_record_alone(node.id) and not node.work:
                unneeded[node.id] = decide_action(NodeStatus(node.id, node.title, Status.DONE))
        return unneeded

    def _current_pace(self, nodes: Mapping[str, NodeStatus]) -> Pace:
        measured = [_measured(self._by_id[node], status.result) for node, status in nodes.items() if status.result]
        running = [(self._by_id[node.id], node.work) for node in nodes.values() if node.work and node.id in self._by_id]
        evidence = len(measured), sum(len(work.ended) for _, work in running)
        if self._pace[0] != evidence:  # not at every look
            if len({stage.parent is None for stage, *_ in measured}) < STAGE_KINDS:
                measured += self._earlier_results
            self._pace = evidence, Pace(self._forms, measured, running)
        return self._pace[1]

    @cached_property
    def _earlier_results(self) -> Sequence[MeasuredStage]:
        """Results of earlier plans of the spec: they took about as long."""
        results, stages = Results(self.store), dict[str, PlannedStage]()
        for plan in islice(earlier_plans(self.store, self.plan, with_others=False), EARLIER_PLANS):
            self._forms.add(plan)
            stages |= {stage.id: stage for stage in plan.stages if stage.id not in self._by_id}
        return [_measured(stage, result) for stage in stages.values() if (result := results.of(stage))]

    def _with_seconds(self, node: NodeStatus, pace: Pace) -> NodeStatus:
        is_known = node.seconds is not None and not node.times
        if node.is_build or is_known or node.status is Status.UNSUPPORTED:
            return node
        time = pace.stage(self._by_id[node.id])
        return node if time is None else replace(node, seconds=time.seconds)

    def _time_left(self, nodes: Iterable[NodeStatus], pace: Pace, is_active: bool, now: float) -> Eta:
        """Add up what runs and will run. `is_active`: a run of the plan goes on, and does not try again what failed."""
        ahead = [node for node in nodes if node.times and node.id in self._by_id]
        ahead = [node for node in ahead if not (is_active and node.status in _NOT_TRIED)]
        return add_times(self._node_time(node, pace, now) for node in ahead)

    def _node_time(self, node: NodeStatus, pace: Pace, now: float) -> Eta:
        stage = self._by_id[node.id]
        time = pace.remaining(stage, node.work, now) if node.work and node.has_begun else pace.stage(stage)
        return Eta(None) if time is None else time

    def estimate_stages(self, stages: Iterable[PlannedStage]) -> Eta:
        """Estimate stages of the plan, measured or not."""
        measured = {stage.id: self._facts.results.of(stage) for stage in self._stages}
        nodes = {stage: NodeStatus(stage, "", Status.DONE, result=result) for stage, result in measured.items()}
        pace = self._current_pace(nodes)
        return add_times(pace.stage(stage) or Eta(None) for stage in stages)


def _measured(stage: PlannedStage, result: Result) -> MeasuredStage:
    return MeasuredStage(stage, result, start_time(result.folder))


def job_reader(store: Store, plan: str) -> StatusReader:
    """Make a reader for the run that is active, and its jobs."""
    return StatusReader(store, retry_stale(lambda: plan_file.read(store.plan(plan))), in_run=True)


def job_status(store: Store, plan: str) -> PlanStatus:
    return job_reader(store, plan).read()


def describe_ahead(store: Store, records: Iterable[RunRecord]) -> tuple[RunAhead, ...]:
    """Add the time that is left to runs for which another one waits."""
    ahead = []
    for run in records:
        try:
            eta = job_status(store, run.plan).eta if run.plan else Eta(None)
        except DAMAGED:  # its plan was removed
            eta = Eta(None)
        ahead.append(RunAhead(run.pid, run.spec, run.started.timestamp(), eta))
    return tuple(ahead)


def build_status(store: Store, build: str) -> NodeStatus:
    """Read the status of a build, whether or not a plan has it."""
    return _Snapshot(store, _Facts(Results(store), {}, {}), HeldLock(), None).build(build, build)


class _Facts(Struct, frozen=True):
    """Facts that do not change from one look to the next."""

    results: Results
    titles: Mapping[str, str]  # of stages
    foreign: Mapping[str, str]  # machine of the plan -> where this host differs from it


class _Snapshot:
    """State of the store at one look, and what it means for each node."""

    def __init__(self, store: Store, facts: _Facts, locks: HeldLock, run: ActiveRun | None) -> None:
        """`run`: of this plan."""
        self._store, self._facts, self._run = store, facts, run
        self._pids = locks.inside(store.lock("_").parent)
        self._locks = locks
        self._skipped = skipped_stages(store) if run and run.until else {}
        self._redo_requests = pending_redos(store)
        self._nodes_with_attempts = names_in(store.attempts_of("_").parent)
        self._stages_with_results = names_in(store.results_of("_").parent)
        self._broken_builds: list[BrokenRecord] = []
        self.redo: dict[str, str] = {}  # why a stage is measured beside its result

    def broken(self) -> tuple[BrokenRecord, ...]:
        results = (self._facts.results.broken(stage) for stage in self._facts.titles)
        return (*self._broken_builds, *chain.from_iterable(results))

    def build(self, build: str, name: str) -> NodeStatus:
        if self._store.has_build(build):
            why = build_fault((folder := self._store.build(build)) / BUILD_FILE)
            if why is None:
                run_start = self._run.started if self._run else None
                is_new = run_start is not None and (folder / BUILD_FILE).stat().st_mtime >= run_start
                waited = read_record(folder / BUILD_FILE, BuildRecord).waited if is_new else 0.0
                return NodeStatus(build, name, Status.DONE, waited=waited)
            self._broken_builds.append(BrokenRecord(build, folder, why))
        return self._without_result(build, name, None)

    def stage(self, stage: PlannedStage, nodes: Mapping[str, NodeStatus]) -> NodeStatus:
        if result := self._facts.results.of(stage):
            return self._with_result(stage, result)
        if stage.origin:
            why = f"it came from {stage.origin}, and its result is lost: import it again"
            return NodeStatus(stage.id, stage.title, Status.ELSEWHERE, why)
        if stage.hardware in self._facts.foreign and stage.id not in self._pids:
            why = f"needs {stage.hardware}: {self._facts.foreign[stage.hardware]}"
            return NodeStatus(stage.id, stage.title, Status.ELSEWHERE, why)
        return self._without_result(stage.id, stage.title, _obstacle(stage, nodes))

    def _with_result(self, stage: PlannedStage, result: Result) -> NodeStatus:
        node = NodeStatus(stage.id, stage.title, result.status, result.reason, result=result, seconds=result.seconds)
        request = self._redo_requests.get(stage.id)
        if request is None or stage.origin or stage.hardware in self._facts.foreign:
            return node
        attempts = self._attempts(stage.id)
        later = [attempt for attempt in attempts if attempt.name > result.folder.name]
        end = attempt_end(later) if stage.id not in self._pids else None
        self.redo[stage.id] = f"{request.sentence}; {end.status}: {end.sentence}" if end else request.sentence
        return replace(node, work=self._work(stage.id, attempts))

    def _without_result(self, node: str, title: str, obstacle: NodeStatus | None) -> NodeStatus:
        attempts = self._attempts(node)
        if work := self._work(node, attempts):
            return NodeStatus(node, title, Status.WAITING if work.waits else Status.RUNNING, work=work)
        for broken in (*self._facts.results.broken(node), *self._broken_builds):
            if broken.node == node:
                return NodeStatus(node, title, Status.INTERRUPTED, broken_sentence(broken.folder, broken.why))
        end = attempt_end(attempts)
        run_start = self._run.started if self._run else None
        if end and (run_start is None or end.when >= run_start):  # else the active run tries it again
            return NodeStatus(node, title, end.status, end.sentence, log=end.log, end=end)
        if obstacle and obstacle.status is Status.UNSUPPORTED:
            return NodeStatus(node, title, Status.UNSUPPORTED, obstacle.reason)
        if obstacle:
            reason = f"build {obstacle.title}: {obstacle.reason}" if obstacle.is_build else obstacle.reason
            cause = obstacle.cause or obstacle.id
            return NodeStatus(node, title, Status.BLOCKED, reason, cause=cause, log=obstacle.log)
        # most of a large plan is: with its action, as copies of thousands take time
        return NodeStatus(
            node, title, Status.MISSING, self._missing_reason(node, end), Action.MEASURE, times=1, end=end
        )

    def _missing_reason(self, node: str, end: AttemptEnd | None) -> str:
        if node in self._skipped:
            seconds = self._skipped[node]
            needs = "" if seconds is None else f"needs about {duration(seconds)}, "
            return f"{needs}more than is left of {self._run.until if self._run else 'the time'}"
        if end:
            return f"tried before: {end.sentence}"
        retraction = newest_retraction(self._store, node) if node in self._stages_with_results else None
        return f"its result was {retraction.sentence}" if retraction else ""

    def _attempts(self, node: str) -> Sequence[Path]:
        return self._store.attempts(node) if node in self._nodes_with_attempts else ()

    def _work(self, node: str, attempts: Sequence[Path]) -> ActiveWork | None:
        """Say who is at work on a node, by its lock; by signs of life if that is a job on another machine."""
        newest = attempts[-1] if attempts and is_open(attempts[-1]) else None
        pids, is_build = self._pids.get(node, ()), node not in self._facts.titles
        if not pids and (newest is None or not is_alive_elsewhere(newest)):
            return None
        if newest is None:
            work, has_host = ActiveWork(pids), False
        elif is_build and pids:
            work, has_host = ActiveWork(pids, newest, since=start_time(newest)), True
        else:
            work, has_host = read_work(newest, pids, self._facts.titles), is_build or has_begun(newest)
        if is_build and not pids:
            return replace(work, doing="")
        if pids and not has_host and (wait := host_wait(self._locks, pids)):
            return replace(work, waits=f"the host: {wait.text}", wait_s=wait.seconds, doing="")
        return work if has_host else replace(work, doing="starts")


def _obstacle(stage: PlannedStage, nodes: Mapping[str, NodeStatus]) -> NodeStatus | None:
    """Find what keeps a stage from starting: a build, or its parent."""
    earlier = [nodes[node] for node in (*stage.builds, stage.parent or "") if node in nodes]
    stopping = (Status.FAILED, Status.BLOCKED, Status.UNSUPPORTED)
    return next((node for node in earlier if node.status in stopping), None)


# Times

EARLIER_PLANS = 4  # that the pace is taken from, while a plan has results of loads or of what follows them alone
STAGE_KINDS = 2  # loads, and what follows them
_NOT_TRIED = (Status.FAILED, Status.INTERRUPTED, Status.BLOCKED)  # by the run that is active

SHORTEST_WAIT = 1.0  # seconds
LONGEST_LOOK = 5.0  # seconds in which a job may look whether the host is quiet, before it begins


def sum_waits(nodes: Iterable[NodeStatus], run_start: float | None, now: float) -> float:
    """Add up the seconds that a run's builds and stages have waited for the host; 0 before its record is written."""
    if run_start is None:
        return 0.0
    waits, build_waits = [0.0], [0.0]
    for node in nodes:
        build_waits.append(node.waited)
        if node.result and (node.result.ended or 0.0) >= run_start:
            waits.append(node.result.waited)
        if node.work and node.work.attempt and (began := start_time(node.work.attempt)) is not None:
            wait = (now if node.work.waits else node.work.since or began) - began
            (build_waits if node.is_build else waits).append(wait if node.work.waits or wait > LONGEST_LOOK else 0.0)
    return sum(wait for wait in [*waits, max(build_waits)] if wait >= SHORTEST_WAIT)  # builds wait at the same time
