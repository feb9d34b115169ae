"""The work that remains of a plan, as Snakemake asks for it: marks that the store lacks, and the summary."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from stepgrid.host import cluster_job
from stepgrid.host.locks import lock_holders
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage
from stepgrid.model.status import ENDED, Action, PlanStatus, Status
from stepgrid.model.units import counted
from stepgrid.store import plans, stage_requests
from stepgrid.store.paths import BUILD_FILE, RESULT_FILE, RUN_LOCK
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store, SummaryFiles

_UNUSUAL = re.compile(r"[^\w .,=:+%-]", re.ASCII)
_UNSENDABLE = re.compile(r"[^\w.+-]+", re.ASCII)  # in `--target-jobs`, which names a job to another machine
_LONGEST_NAME = 200  # of the 255 bytes that a file's name may have


class RemainingWork(Struct, frozen=True, dict=True):
    """A plan and what the store lacks of it."""

    plan: Plan
    store: Store
    status: PlanStatus
    dry_run: bool = False  # nothing is written

    @cached_property
    def builds(self) -> Mapping[str, PlannedBuild]:
        return {build.id: build for build in self.plan.builds}

    @cached_property
    def stages(self) -> Mapping[str, PlannedStage]:
        return {stage.id: stage for stage in self.plan.stages}

    @cached_property
    def results(self) -> Mapping[str, Path]:
        """Newest sound result of each stage that has one."""
        return {node.id: node.result.folder for node in self.status.stages if node.result}

    @cached_property
    def elsewhere(self) -> Mapping[str, str]:
        """Machines that stages without a result need, where it is not this one."""
        return {node.id: self.stages[node.id].hardware for node in self.status.nodes_with(Status.ELSEWHERE)}

    @cached_property
    def again(self) -> Mapping[str, str]:
        """Reasons of stages that are measured again, beside their results."""
        return {node.id: node.why for node in self.status.stages if node.action is Action.REDO}

    @cached_property
    def lacking(self) -> frozenset[str]:
        stages = {node.id for node in self.status.stages if not node.result and node.status is not Status.ELSEWHERE}
        used = {build for stage in self.plan.stages for build in stage.builds}
        builds = {node for node in self.builds.keys() & used if self.status.nodes[node].status not in ENDED}
        return frozenset(stages | builds | self.again.keys())

    @property
    def is_over(self) -> bool:
        """Tell whether everything is measured, and in a summary that the code as it is has made."""
        try:
            newest = [Path(path).stat().st_mtime for path in self.evidence[-1:]]
            return not self.lacking and self.products.oldest_time >= max(newest, default=0.0)
        except OSError:  # one of them is missing
            return False

    # Names and marks of Snakemake's jobs

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Readable names of nodes in Snakemake's jobs and files, and nodes by these names."""
        names: dict[str, str] = {}
        unusual, separator = (_UNSENDABLE, "_") if cluster_job.active() else (_UNUSUAL, " ")
        for node in (*self.builds, *self.stages):
            name = unusual.sub("_", self.title(node))[:_LONGEST_NAME].strip()
            names[node] = name = name if name not in names else f"{name}{separator}{node}"
            names[name] = node
        return names

    @property
    def marks(self) -> str:
        """Folder of the marks; a dry run's does not exist, so that marks of an earlier run hide no job."""
        return f"{self.store.mark(self.plan.digest)}{'.dry-run' if self.dry_run else ''}"

    def mark(self, node: str) -> str:
        return f"{self.marks}/{'builds' if node in self.builds else 'stages'}/{self.names[node]}"

    def required_marks(self, stage: str) -> list[str]:
        """List marks that must be made before a stage runs: of its parent, its builds and those of its ancestors.

        Ancestors may have to run again for their database. Marks that exist are not asked for."""
        builds: dict[str, None] = {}
        ancestor: str | None = stage
        while ancestor is not None:
            builds |= dict.fromkeys(self.stages[ancestor].builds)
            ancestor = self.stages[ancestor].parent
        parent = self.stages[stage].parent
        return [self.mark(node) for node in (*builds, *([parent] if parent else [])) if node in self.lacking]

    @property
    def missing(self) -> list[str]:
        """Marks that the store lacks: builds first, then stages, each by id."""
        return [self.mark(node) for node in sorted(self.lacking)]

    @cached_property
    def evidence(self) -> list[str]:
        """Files that the tables must be newer than: missing marks, and the newest result.

        Marks of results are left out: Snakemake would take in the jobs that make them."""
        present = (f"{result}/{RESULT_FILE}" for result in self.results.values())
        newest = max(present, key=lambda path: os.stat(path).st_mtime, default=None)  # noqa: PTH116 - ten thousand
        return [*self.missing, *([newest] if newest else [])]

    @property
    def targets(self) -> list[str | Path]:
        return [*self.missing, self.products.text, self.products.page, *self.products.stamps]

    @cached_property
    def products(self) -> SummaryFiles:
        """Files of the summary; stamps by the code as it is: a fix makes tables and report again."""
        return SummaryFiles.of(self.store, self.plan.digest)

    def restore_marks(self) -> None:
        """Make marks of results and builds again: Snakemake may delete marks at will."""
        for stage, result in self.results.items():
            if stage not in self.lacking and not self.store.mark(stage).exists():
                self.store.set_mark(stage, result / RESULT_FILE)
        for build in self.builds:
            if build not in self.lacking and not self.store.mark(build).exists():
                self.store.set_mark(build, self.store.build(build) / BUILD_FILE)

    # Words for people

    def rank(self, stage: str) -> int:
        return self.stages[stage].rank

    def title(self, node: str) -> str:
        return self.builds[node].name if node in self.builds else self.stages[node].title

    @property
    def jobs(self) -> Iterator[str]:
        """List what a run would start, in its order, and how much that is."""
        builds = [build for build in self.builds if build in self.lacking]
        stages = sorted((stage for stage in self.stages if stage in self.lacking), key=self.rank)
        yield from (f"build {self.title(build)}" for build in builds)
        yield from (f"measure {self.title(stage)}" for stage in stages)
        yield "collect the tables and summarize"
        yield f"a dry run: {counted(len(builds), 'build')}, {counted(len(stages), 'stage')}; nothing was started"

    @property
    def elsewhere_note(self) -> str:
        if not self.elsewhere:
            return ""
        machines = ", ".join(sorted(set(self.elsewhere.values())))
        return f", {counted(len(self.elsewhere), 'stage')} elsewhere (needs {machines})"

    @property
    def nothing_to_do(self) -> str:
        """The answer when all is measured: the number of results, the summary, and where it is."""
        counts = f"{counted(len(self.plan.cells), 'cell')}, {counted(len(self.results), 'stage')} measured"
        answer = f"nothing to do: {counts}{self.elsewhere_note}"
        return answer if self.dry_run else f"{answer}\n\n{self.products.brief(sys.stdout)}"


def remaining_work(plan: Plan, store: Store, dry_run: bool = False) -> RemainingWork:
    """Publish the plan where its jobs read it, and compare it with the store; a dry run writes nothing."""
    if not dry_run:
        plans.publish(store, plan)
    work = RemainingWork(plan, store, StatusReader(store, plan).read(), dry_run)
    if not dry_run:
        for broken in work.status.broken:  # else Snakemake has what it asks for
            store.drop_mark(broken.node)
        is_idle = not lock_holders(store.lock(RUN_LOCK))  # a run that goes on may wait for these marks
        store.drop_named_marks(plan.digest, all_of_them=is_idle)
        for node in work.again if is_idle else ():
            store.drop_mark(node)
    return work


def work_of_job(plan: Plan, store: Store) -> RemainingWork:
    """Compare a plan with the store for a job on another machine; its run goes on, so nothing is written."""
    return RemainingWork(plan, store, StatusReader(store, plan).read())


def ask_for_repeats(work: RemainingWork) -> None:
    """Record the stages that are measured again, for the jobs, and for the next run if this one is killed."""
    for node, reason in work.again.items():
        if stage_requests.pending_redo(work.store, node) is None:
            stage_requests.request_redo(work.store, node, reason, by=work.plan.spec)
