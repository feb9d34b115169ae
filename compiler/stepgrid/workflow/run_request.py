"""What a request comes to: its plan and what is left of it, or why nothing can be started."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from errno import EACCES
from functools import cache
from pathlib import Path
from typing import Any

from stepgrid.errors import FAILED, PROBLEMS, USAGE, StepgridError
from stepgrid.host import cluster_job
from stepgrid.host.facts import hardware_contradiction, machines_without_nodes
from stepgrid.host.files import STALE_HINT, is_stale
from stepgrid.language.site import VARIABLE, current_site
from stepgrid.model.plan import Plan, PlannedStage, runs_already
from stepgrid.model.site import HERE
from stepgrid.run import run_end_time
from stepgrid.store.active_run import disk_refusal, full_disk_sentence, is_full_disk_error
from stepgrid.store.store import Store
from stepgrid.workflow import config_texts, host_plan, plan_cache
from stepgrid.workflow.host_plan import named
from stepgrid.workflow.remaining_work import RemainingWork, work
from stepgrid.workflow.shown_warnings import once_a_day

STAND_IN = (
    "nothing was started: run it on that machine, or say `allow_other_hardware: true` in a site file "
    "(docs/running.md), which keeps its results under this host's own id"
)
NO_NODES = "nothing was started: the site file names no nodes for the hardware of the spec:"
WHICH_SPEC = "which spec? snakemake --config spec=specs/quickstart.yaml, or stepgrid run specs/quickstart.yaml"


class Fault(StepgridError):
    """What is wrong with the request or the spec, as text for a person."""

    def __init__(self, text: str, status: int = PROBLEMS) -> None:
        super().__init__(text)
        self.status = status  # that of the command


def work_of(config: Mapping[str, Any], dry_run: bool = False, on_cluster: bool = False) -> RemainingWork:
    """What `--config spec=… scale=… only=… set=… site=… until=…` asks for. A dry run writes nothing."""
    if messages := [*config_texts.faults(config)] or ([] if config.get("spec") else [WHICH_SPEC]):
        raise Fault("\n".join(messages), USAGE)
    if message := host_plan.results_elsewhere():
        raise Fault(message, USAGE)
    cluster_job.use(on_cluster)
    use_until(config.get("until"))
    use_site(config)
    plan = compiled(*request(config), site=os.environ.get(VARIABLE), keep=not dry_run)
    found = _looked(plan, host_plan.store(), dry_run)
    _refuse_wrong_options(found)
    _refuse_what_cannot_run(found)
    _refuse_other_hardware(found)
    cluster_job.tell_plan(found.plan.digest)
    return found


def request(config: Mapping[str, Any]) -> plan_cache.Request:
    scale = config.get("scale")
    only = next(iter(config_texts.read(config.get("only"))), None)
    told = None if scale is None else str(scale)
    return plan_cache.Request(named(str(config["spec"])), told, only, config_texts.read(config.get("set")))


def use_until(given: Any) -> None:
    """The run's jobs start nothing that would end later."""
    try:
        run_end_time.use(given)
    except ValueError as wrong:
        raise Fault(str(wrong), USAGE) from None


def use_site(config: Mapping[str, Any]) -> None:
    """The run and its jobs go by this site file; by none, where `site=` is empty."""
    from stepgrid.language.problems import count_problems, format_problems

    if wrong := host_plan.use(str(config["site"] or "") if "site" in config else None):
        raise Fault(f"{format_problems(wrong)}\n\n{wrong[0].where.file}: {count_problems(wrong)}")


def _looked(plan: Plan, store: Store, dry_run: bool) -> RemainingWork:
    try:
        found = work(plan, store, dry_run)
    except OSError as error:
        raise Fault(refused(store, error), FAILED) from None
    if not found.is_over and (full := disk_refusal(store)):
        raise Fault(full, FAILED)
    if (folder := store.unwritable()) and not found.is_over:
        raise Fault(refused(store, PermissionError(EACCES, "no permission to write", str(folder))), FAILED)
    return found


def refused(store: Store, error: OSError) -> str:
    """The one place where everything goes cannot be used."""
    if is_full_disk_error(error):
        return full_disk_sentence(store)
    where = f" ({error.filename})" if error.filename else ""
    if is_stale(error):
        return f"{store.root.absolute()} could not be read: {error.strerror}{where}; {STALE_HINT}"
    if error.filename and store.data != store.root and Path(error.filename).is_relative_to(store.data.parent):
        return f"{error.filename}, of the site file's `data`, cannot be written: {error.strerror or error}"
    advice = "make it writable, or start in another folder"
    return f"{store.root.absolute()} cannot be written: {error.strerror or error}{where}; {advice}"


def _refuse_wrong_options(found: RemainingWork) -> None:
    """Those that the builds which are there would not take. What the others say is looked at when they are made."""
    if found.stages.keys() & found.lacking:
        from stepgrid.language.problems import count_problems, format_problems
        from stepgrid.workflow.catalogue_check import problems

        if wrong := [problem for problem in problems(found.plan, found.store) if problem.severity == "error"]:
            raise Fault(f"{format_problems(wrong)}\n\n{found.plan.spec}: {count_problems(wrong)}")


def _refuse_what_cannot_run(found: RemainingWork) -> None:
    if found.lacking:
        from stepgrid.workflow.support_check import refusals

        builds = [build for build in found.plan.builds if build.id in found.lacking]
        stages = [stage for stage in found.plan.stages if stage.id in found.lacking]
        if refused := [*refusals(found.plan.spec, builds, stages), *_unreachable(found, stages)]:
            raise Fault("\n".join(refused))


def _unreachable(found: RemainingWork, stages: Sequence[PlannedStage]) -> list[str]:
    """Servers that already run, which the site file must name."""
    used = dict.fromkeys(build for stage in stages for build in stage.builds)
    running = [build for node in used if runs_already((build := found.builds[node]).source)]
    if not running:
        return []
    from stepgrid.build.external_server import missing_entries

    return missing_entries(running, current_site())


def _refuse_other_hardware(found: RemainingWork) -> None:
    """Before anything is started; the jobs look again."""
    stages = found.stages.keys() & found.lacking
    nothing = bool(found.elsewhere) and not found.results
    if cluster_job.active():
        _refuse_machines_without_nodes(found.plan, bool(stages or nothing))
    elif (stages or nothing) and (
        differs := hardware_contradiction(found.plan.machines, found.store.root, current_site())
    ):
        raise Fault(f"{differs}\n{STAND_IN}", FAILED)


def _refuse_machines_without_nodes(plan: Plan, anything: bool) -> None:
    """The jobs look whether the nodes are what the spec says."""
    without = machines_without_nodes(plan.machines, current_site())
    if anything and len(without) == len(plan.machines):
        names = [name if plan.machines[name].get("declared") else HERE for name in without]
        listed = ", ".join(f"`{name}`" for name in names)
        raise Fault(f"{NO_NODES} {listed}; add `slurm: {{machines: {{{names[0]}: {{nodes: […]}}}}}}` to it", FAILED)


@cache
def compiled(
    spec: str,
    scale: str | None,
    only: str | None = None,
    sets: tuple[str, ...] = (),
    site: str | None = None,
    keep: bool = True,
) -> Plan:
    """The plan of a spec on this host; cached, because `stepgrid run` and the Snakefile ask in one process.

    `keep`: for later processes, too."""
    from stepgrid.language.problems import SpecError, count_problems, format_problems

    try:
        plan, said = plan_cache.compiled(host_plan.store(), plan_cache.Request(spec, scale, only, sets), keep)
    except SpecError as error:
        raise Fault(f"{format_problems(error.problems)}\n\n{spec}: {count_problems(error.problems)}") from None
    if said:
        print(once_a_day(host_plan.store(), spec, said, keep), file=sys.stderr)
    return plan
