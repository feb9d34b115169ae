"""What is left of a plan, as Snakemake asks for it: marks that the store lacks, and the summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stepgrid.host.locks import holders
from stepgrid.host.machines import elsewhere
from stepgrid.language.site.site_file import of_environment
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage
from stepgrid.model.units import counted
from stepgrid.store import contents, plans
from stepgrid.store.report_files import Products
from stepgrid.store.run_lock import NAME as RUN
from stepgrid.store.status.integrity import Look
from stepgrid.store.status.results import Broken
from stepgrid.store.store import Store
from stepgrid.workflow.redo import again


@dataclass(frozen=True, slots=True)
class Work:
    """A plan and what the store lacks of it."""

    plan: Plan
    store: Store
    builds: Mapping[str, PlannedBuild]
    stages: Mapping[str, PlannedStage]
    lacking: frozenset[str] = field(repr=False)
    results: Mapping[str, Path] = field(repr=False)  # stage -> the newest result that is sound
    broken: tuple[Broken, ...] = ()
    elsewhere: Mapping[str, str] = field(default_factory=dict)  # stage without a result -> the machine that it needs
    again: Mapping[str, str] = field(default_factory=dict)  # stage with a result, to be measured beside it -> why

    @property
    def marks(self) -> str:
        return str(self.store.mark("_").parent)

    @property
    def products(self) -> Products:
        return Products.of(self.store, self.plan.digest)

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
        return [str(self.store.mark(node)) for node in sorted(self.lacking)]

    @property
    def targets(self) -> list[str]:
        return [*self.missing, self.text, self.page, *self.stamps]

    @property
    def evidence(self) -> list[str]:
        """What the tables must be newer than: what is still missing, and the newest result that is there.

        Not the marks of the results that are there: Snakemake would take in the jobs that make them.
        """
        present = [result / "result.json" for result in self.results.values()]
        return [*self.missing, *map(str, sorted(present, key=lambda path: path.stat().st_mtime)[-1:])]

    @property
    def is_over(self) -> bool:
        """Everything is measured, and the summary has seen all of it, with the code as it is."""
        try:
            newest = [Path(path).stat().st_mtime for path in self.evidence[-1:]]
            return not self.lacking and self.products.made >= max(newest, default=0.0)
        except OSError:  # one of them is not there
            return False

    def before(self, stage: str) -> list[str]:
        """Marks that must be made before a stage runs; those that are there are not asked for."""
        parent = self.stages[stage].parent
        needed = [*self._builds(stage), *([parent] if parent else [])]
        return [str(self.store.mark(node)) for node in needed if node in self.lacking]

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
    def others(self) -> str:
        """What other machines have to measure."""
        if not self.elsewhere:
            return ""
        names = ", ".join(sorted(set(self.elsewhere.values())))
        return f", {counted(len(self.elsewhere), 'stage')} elsewhere (needs {names})"

    @property
    def nothing_to_do(self) -> str:
        """The answer when all is measured: what there is, the summary, and where it is."""
        return self.products.nothing_to_do(len(self.plan.cells), len(self.results), self.others)

    def restore_marks(self) -> None:
        """Marks are what Snakemake may delete at will; results and builds stay, so that marks can be made again."""
        for stage in self.stages:
            if stage in self.results and stage not in self.lacking and not self.store.mark(stage).exists():
                self.store.set_mark(stage, self.results[stage] / "result.json")
        for build in self.builds:
            if build not in self.lacking and not self.store.mark(build).exists():
                self.store.set_mark(build, self.store.build(build) / "build.json")


def work(plan: Plan, store: Store) -> Work:
    """Keeps the plan where its jobs read it, and looks at what the store has."""
    plans.publish(store, plan)
    contents.note(store, plan.stages)
    builds = {build.id: build for build in plan.builds}
    stages = {stage.id: stage for stage in plan.stages}
    look = Look(store, plan)
    made = {build for build in builds if look.has_build(build)}
    results = {stage.id: result for stage in plan.stages if (result := look.result(stage))}
    unknown = [stage for stage in plan.stages if stage.id not in results]
    others = elsewhere(plan.machines, unknown, store.root, of_environment())
    more = again(plan, store, results)
    unmeasured = (stages.keys() - results.keys() - others.keys()) | more.keys()
    used = {build for stage in plan.stages if stage.id not in others for build in stage.builds}
    needed = {build for node in unmeasured for build in stages[node].builds}
    told = {build for build in builds if store.has_record_alone(build)} - needed
    lacking = ((used & builds.keys()) - made - told) | unmeasured
    broken = look.end()
    for node in lacking:
        store.drop_dangling_mark(node)
    if not holders(store.lock(RUN)):  # a run that goes on may wait for them
        for node in more:  # else Snakemake has what it asks for
            store.drop_mark(node)
    return Work(plan, store, builds, stages, frozenset(lacking), results, broken, others, more)
