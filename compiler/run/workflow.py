"""What is left of a plan, as Snakemake asks for it: marks that the store lacks, and the summary."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from errno import EACCES
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler.build.declared import runs_already
from compiler.language.site import GIVEN, of_environment
from compiler.run import here, remembered, until
from compiler.run.again import again
from compiler.run.here import named
from compiler.run.machines import contradicted, elsewhere
from compiler.run.over import counted as counted  # hooks says it too
from compiler.run.revision import revision
from compiler.run.soundness import Broken, Look
from compiler.store import plans
from compiler.store.lock import holders
from compiler.store.runlock import NAME as RUN
from compiler.store.store import Store

if TYPE_CHECKING:
    from compiler.plan.model import Plan, PlannedBuild, PlannedStage

PROBLEMS, WRONG_CALL, REFUSED = 1, 2, 3
STAND_IN = (
    "nothing was started: run it on that machine, or say `allow_other_hardware: true` in a site file "
    "(docs/running.md), which keeps its results under this host's own id"
)
USAGE = "which spec? snakemake --config spec=specs/quickstart.yaml, or stepgrid run specs/quickstart.yaml"


class Fault(Exception):
    """What is wrong with the request or the spec, as text for a person."""

    def __init__(self, text: str, status: int = PROBLEMS) -> None:
        super().__init__(text)
        self.status = status  # that of the command


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
    def tables(self) -> str:
        return str(self.store.summary(self.plan.digest) / "tables" / "steps.parquet")

    @property
    def stamps(self) -> list[str]:
        """Of the tables and of the report: there when the code as it is made them. A fix makes them again."""
        return [str(stamp) for stamp in self.store.stamps(self.plan.digest, revision())]

    @property
    def text(self) -> str:
        return str(self.store.summary(self.plan.digest) / "summary.txt")

    @property
    def page(self) -> str:
        return str(self.store.summary(self.plan.digest) / "index.html")

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
        evidence = self.evidence
        made = min(map(_modified, (self.tables, self.text, self.page, *self.stamps)))
        return not self.lacking and made >= (_modified(evidence[-1]) if evidence else 0.0)

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

    def restore_marks(self) -> None:
        """Marks are what Snakemake may delete at will; results and builds stay, so that marks can be made again."""
        for stage in self.stages:
            if stage in self.results and stage not in self.lacking and not self.store.mark(stage).exists():
                self.store.set_mark(stage, self.results[stage] / "result.json")
        for build in self.builds:
            if build not in self.lacking and not self.store.mark(build).exists():
                self.store.set_mark(build, self.store.build(build) / "build.json")


def work_of(config: Mapping[str, Any]) -> Work:
    """What `--config spec=… scale=… only=… set=… site=… until=…` asks for."""
    if not config.get("spec"):
        raise Fault(USAGE, WRONG_CALL)
    use_until(config.get("until"))
    use_site(config.get("site"))
    scale = config.get("scale")
    only = next(iter(_texts(config.get("only"))), None)
    asked = (named(str(config["spec"])), None if scale is None else str(scale), only, _texts(config.get("set")))
    found = _looked(compiled(*asked, site=os.environ.get(GIVEN)), here.store())
    _refuse_what_cannot_run(found)
    _refuse_other_hardware(found)
    return found


def _texts(given: Any) -> tuple[str, ...]:
    """A text, or a list of them: only in a list Snakemake leaves the quotes at the ends of a value alone."""
    listed = given if isinstance(given, list | tuple) else [given]
    return tuple(str(text) for text in listed if text is not None)


def use_until(given: Any) -> None:
    """The run's jobs start nothing that would end later."""
    try:
        until.use(given)
    except ValueError as wrong:
        raise Fault(str(wrong), WRONG_CALL) from None


def use_site(given: Any) -> None:
    """The run and its jobs go by this site file."""
    from compiler.language import render

    if wrong := here.use(None if given is None else str(given)):
        raise Fault(f"{render.text(wrong)}\n\n{wrong[0].where.file}: {render.counted(wrong)}")


def _looked(plan: Plan, store: Store) -> Work:
    try:
        found = work(plan, store)
    except OSError as error:
        raise Fault(refused(store, error), REFUSED) from None
    if (folder := store.unwritable()) and not found.is_over:
        raise Fault(refused(store, PermissionError(EACCES, "no permission to write", str(folder))), REFUSED)
    return found


def refused(store: Store, error: OSError) -> str:
    """The one place where everything goes cannot be used."""
    where = f" ({error.filename})" if error.filename else ""
    if error.filename and store.data != store.root and Path(error.filename).is_relative_to(store.data.parent):
        return f"{error.filename}, of the site file's `data`, cannot be written: {error.strerror or error}"
    advice = "make it writable, or start in another folder"
    return f"{store.root.absolute()} cannot be written: {error.strerror or error}{where}; {advice}"


def _refuse_what_cannot_run(found: Work) -> None:
    if found.lacking:
        from compiler.drivers.refusals import refusals

        builds = [build for build in found.plan.builds if build.id in found.lacking]
        stages = [stage for stage in found.plan.stages if stage.id in found.lacking]
        if refused := [*refusals(found.plan.spec, builds, stages), *_unreachable(found, stages)]:
            raise Fault("\n".join(refused))


def _unreachable(found: Work, stages: Sequence[PlannedStage]) -> list[str]:
    """Servers that already run, which the site file must name."""
    used = dict.fromkeys(build for stage in stages for build in stage.builds)
    running = [build for node in used if runs_already((build := found.builds[node]).source)]
    if not running:
        return []
    from compiler.run.server.entry import lacking

    return lacking(running, of_environment())


def _refuse_other_hardware(found: Work) -> None:
    """Before anything is started; the jobs look again."""
    stages = found.stages.keys() & found.lacking
    nothing = bool(found.elsewhere) and not found.results
    if (stages or nothing) and (differs := contradicted(found.plan.machines, found.store.root)):
        raise Fault(f"{differs}\n{STAND_IN}", REFUSED)


def work(plan: Plan, store: Store) -> Work:
    """Keeps the plan where its jobs read it, and looks at what the store has."""
    plans.publish(store, plan)
    builds = {build.id: build for build in plan.builds}
    stages = {stage.id: stage for stage in plan.stages}
    look = Look(store, plan)
    made = {build for build in builds if look.has_build(build)}
    results = {stage.id: result for stage in plan.stages if (result := look.result(stage))}
    others = elsewhere(plan.machines, [stage for stage in plan.stages if stage.id not in results], store.root)
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


def _modified(path: str) -> float:
    """Minus one for a file that is not there."""
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return -1.0


@cache
def compiled(
    spec: str, scale: str | None, only: str | None = None, sets: tuple[str, ...] = (), site: str | None = None
) -> Plan:
    """The plan of a spec on this host; cached, because `stepgrid run` and the Snakefile ask in one process."""
    from compiler.language import render
    from compiler.language.problem import SpecError

    try:
        plan, said = remembered.compiled(here.store(), remembered.Request(spec, scale, only, sets))
    except SpecError as error:
        raise Fault(f"{render.text(error.problems)}\n\n{spec}: {render.counted(error.problems)}") from None
    if said:
        print(said, file=sys.stderr)
    return plan


def nothing_to_do(work: Work) -> str:
    """The answer when all is measured: what there is, the summary, and where it is."""
    plan = work.plan
    said = f"nothing to do: {counted(len(plan.cells), 'cell')}, {counted(len(work.results), 'stage')} measured"
    return f"{said}{others(work)}\n\n{summary(work)}"


def others(work: Work) -> str:
    """What other machines have to measure."""
    if not work.elsewhere:
        return ""
    names = ", ".join(sorted(set(work.elsewhere.values())))
    return f", {counted(len(work.elsewhere), 'stage')} elsewhere (needs {names})"


def summary(work: Work) -> str:
    """The summary's text and the paths of its files."""
    text = Path(work.text).read_text(encoding="utf-8").rstrip("\n")
    return f"{text}\n\n{work.text}\n{work.page}"
