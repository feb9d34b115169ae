"""What is left of a plan, as Snakemake asks for it: marks that the store lacks, and the summary."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from stepgrid.host import cluster_job
from stepgrid.host.locks import lock_holders
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage
from stepgrid.model.status import ENDED, Action, BrokenRecord, PlanStatus, Status
from stepgrid.model.units import counted
from stepgrid.store import contents, plans, redo_requests
from stepgrid.store.paths import RUN_LOCK as RUN
from stepgrid.store.status.integrity import note_sound
from stepgrid.store.status.reader import StatusReader
from stepgrid.store.store import Store, SummaryFiles

_UNUSUAL = re.compile(r"[^\w .,=:+%-]", re.ASCII)
_UNSENDABLE = re.compile(r"[^\w.+-]+", re.ASCII)  # in `--target-jobs`, which names a job to another machine
_APART = {False: " ", True: "_"}  # a name and an id
_LONGEST = 200  # of the 255 bytes that a file's name may have


@dataclass(frozen=True)  # no slots: cached_property needs a dict
class RemainingWork:
    """A plan and what the store lacks of it."""

    plan: Plan
    store: Store
    status: PlanStatus = field(repr=False)
    dry_run: bool = False  # nothing is written

    @cached_property
    def builds(self) -> Mapping[str, PlannedBuild]:
        return {build.id: build for build in self.plan.builds}

    @cached_property
    def stages(self) -> Mapping[str, PlannedStage]:
        return {stage.id: stage for stage in self.plan.stages}

    @cached_property
    def results(self) -> Mapping[str, Path]:
        """Stage -> the newest result that is sound."""
        return {node.id: node.result.folder for node in self.status.stages if node.result}

    @cached_property
    def elsewhere(self) -> Mapping[str, str]:
        """Stage without a result -> the machine that it needs."""
        return {node.id: self.stages[node.id].hardware for node in self.status.of(Status.ELSEWHERE)}

    @cached_property
    def again(self) -> Mapping[str, str]:
        """Stage with a result, to be measured beside it -> why."""
        return {node.id: node.why for node in self.status.stages if node.action is Action.REDO}

    @cached_property
    def lacking(self) -> frozenset[str]:
        stages = {node.id for node in self.status.stages if not node.result and node.status is not Status.ELSEWHERE}
        used = {build for stage in self.plan.stages for build in stage.builds}
        builds = {node for node in self.builds.keys() & used if self.status.nodes[node].status not in ENDED}
        return frozenset(stages | builds | self.again.keys())

    @property
    def broken(self) -> tuple[BrokenRecord, ...]:
        return tuple(self.status.broken)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Node -> what people read in the names of Snakemake's jobs and files, and back."""
        found: dict[str, str] = {}
        unusual = _UNSENDABLE if cluster_job.active() else _UNUSUAL
        for node in (*self.builds, *self.stages):
            name = unusual.sub("_", self.title(node))[:_LONGEST].strip()
            found[node] = name = name if name not in found else f"{name}{_APART[cluster_job.active()]}{node}"
            found[name] = node
        return found

    @property
    def marks(self) -> str:
        """Of a dry run a folder that does not exist: marks of an earlier run stay, and hide no job from Snakemake."""
        return f"{self.store.mark(self.plan.digest)}{'.dry-run' if self.dry_run else ''}"

    def mark(self, node: str) -> str:
        return f"{self.marks}/{'builds' if node in self.builds else 'stages'}/{self.names[node]}"

    @property
    def products(self) -> SummaryFiles:
        return SummaryFiles.of(self.store, self.plan.digest)

    @property
    def tables(self) -> str:
        return str(self.products.tables)

    @property
    def stamps(self) -> list[str]:
        """Of the tables and of the report: there when the code as it is made them. A fix makes them again."""
        return [*map(str, self.products.stamps)]

    @property
    def text(self) -> str:
        return str(self.products.text)

    @property
    def page(self) -> str:
        return str(self.products.page)

    @property
    def missing(self) -> list[str]:
        """Marks of what the store lacks: builds first, then stages, each by id."""
        return [self.mark(node) for node in sorted(self.lacking)]

    @property
    def targets(self) -> list[str]:
        return [*self.missing, self.text, self.page, *self.stamps]

    @cached_property
    def evidence(self) -> list[str]:
        """What the tables must be newer than: what is still missing, and the newest result that is there.

        Not the marks of the results that are there: Snakemake would take in the jobs that make them.
        """
        present = (f"{result}/result.json" for result in self.results.values())
        newest = max(present, key=lambda path: os.stat(path).st_mtime, default=None)  # noqa: PTH116 - ten thousand
        return [*self.missing, *([newest] if newest else [])]

    @property
    def is_over(self) -> bool:
        """Everything is measured, and the summary has seen all of it, with the code as it is."""
        try:
            newest = [Path(path).stat().st_mtime for path in self.evidence[-1:]]
            return not self.lacking and self.products.oldest_time >= max(newest, default=0.0)
        except OSError:  # one of them is not there
            return False

    def before(self, stage: str) -> list[str]:
        """Marks that must be made before a stage runs; those that are there are not asked for."""
        parent = self.stages[stage].parent
        needed = [*self._builds(stage), *([parent] if parent else [])]
        return [self.mark(node) for node in needed if node in self.lacking]

    def _builds(self, stage: str) -> dict[str, None]:
        """Of the stage, and of those before it, which may have to be run again for their database."""
        found: dict[str, None] = {}
        node: str | None = stage
        while node is not None:
            found |= dict.fromkeys(self.stages[node].builds)
            node = self.stages[node].parent
        return found

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
        yield from ("collect the tables", "summarize")
        yield f"a dry run: {counted(len(builds), 'build')}, {counted(len(stages), 'stage')}; nothing was started"

    @property
    def others(self) -> str:
        """What other machines have to measure."""
        if not self.elsewhere:
            return ""
        names = ", ".join(sorted(set(self.elsewhere.values())))
        return f", {counted(len(self.elsewhere), 'stage')} elsewhere (needs {names})"

    @property
    def nothing_to_do(self) -> str:
        """The answer when all is measured: what there is, the summary, and where it is."""
        said = self.products.nothing_to_do(len(self.plan.cells), len(self.results), self.others)
        return said.partition("\n")[0] if self.dry_run else said

    def restore_marks(self) -> None:
        """Marks are what Snakemake may delete at will; results and builds stay, so that marks can be made again."""
        for stage in self.stages:
            if stage in self.results and stage not in self.lacking and not self.store.mark(stage).exists():
                self.store.set_mark(stage, self.results[stage] / "result.json")
        for build in self.builds:
            if build not in self.lacking and not self.store.mark(build).exists():
                self.store.set_mark(build, self.store.build(build) / "build.json")


def work(plan: Plan, store: Store, dry_run: bool = False) -> RemainingWork:
    """Keeps the plan where its jobs read it, and looks at what the store has."""
    if dry_run:
        return RemainingWork(plan, store, StatusReader(store, plan).read(), dry_run)
    plans.publish(store, plan)
    contents.note(store, plan.stages)
    found = RemainingWork(plan, store, StatusReader(store, plan).read())
    for broken in found.broken:  # else Snakemake has what it asks for
        store.drop_mark(broken.node)
    note_sound(store, found.status)
    idle = not lock_holders(store.lock(RUN))  # a run that goes on may wait for them
    store.drop_named_marks(plan.digest, all_of_them=idle)
    if idle:
        for node in found.again:
            store.drop_mark(node)
    return found


def job_work(plan: Plan, store: Store) -> RemainingWork:
    """For a job on another machine, while the run that started it goes on: nothing is written or removed."""
    return RemainingWork(plan, store, StatusReader(store, plan).read())


def ask_for_again(work: RemainingWork) -> None:
    """So that the jobs know, and a run that is killed goes on with them."""
    for node, why in work.again.items():
        if redo_requests.pending(work.store, node) is None:
            redo_requests.ask(work.store, node, why, by=work.plan.spec)
