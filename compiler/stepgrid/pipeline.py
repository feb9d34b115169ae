"""The whole program, in the order in which an experiment goes through it.

    a spec ── compile_spec ──> Plan ── remaining_work ──> RemainingWork ──> the jobs of a run, by Snakemake:
    build ──> builds/<id>    run_stage ──> results/<id>/<attempt>    collect ──> tables    summarize ──> report

The Snakefile, the commands and the Python API call these functions. A job of a run is `python -m stepgrid.pipeline JOB
PLAN [ID]`, in the folder that holds outputs/; it pays for every import, so each function imports what it needs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from stepgrid.errors import FINE, USAGE

if TYPE_CHECKING:
    from stepgrid.language.problems import Problems
    from stepgrid.model.plan import Plan
    from stepgrid.store.plans import Request
    from stepgrid.store.store import Store
    from stepgrid.workflow.remaining_work import RemainingWork


_T = TypeVar("_T")


def compile_spec(request: Request, problems: Problems | None = None) -> Plan:
    """Compile a spec for this host: its cells, the stages and builds that they share, and their order.

    A SpecError has every problem of the spec; warnings are added to `problems`."""
    from stepgrid.workflow.host_plan import compile_for_host

    return compile_for_host(request.spec, request.scale, problems, request.only, request.sets)


def remaining_work(config: Mapping[str, object], dry_run: bool = False, on_cluster: bool = False) -> RemainingWork:
    """Compare the plan of a request (Snakemake's `--config`) with the store; a Fault says what cannot run here.

    A dry run writes nothing."""
    from stepgrid.host import cluster_job
    from stepgrid.workflow import host_plan, run_request

    run_request.use_words(config)
    cluster_job.use(on_cluster)
    request = run_request.plan_request(config)
    plan = run_request.requested_plan(request, run_request.site_in_use(), not dry_run)
    work = run_request.usable_work(plan, host_plan.store(), dry_run)
    run_request.refuse_unrunnable(work, request)
    cluster_job.tell_plan(plan.digest)
    return work


# The jobs of a run; each returns its exit status.

JOB_FAILED = 1


def build(plan: str, build_id: str) -> int:
    """Obtain or compile one build, and publish it as builds/<id>."""
    from stepgrid.build.job import make
    from stepgrid.plan import plan_file
    from stepgrid.store.store import Store

    store = Store()
    try:
        planned = plan_file.read(store.plan(plan)).build(build_id)
    except plan_file.DAMAGED:
        return _fail(f"there is no build {build_id} in {store.plan(plan)}: compile the spec again")
    try:
        return make(store, planned)
    except OSError as error:
        return _fail(f"build {build_id}: {error}")


def run_stage(plan: str, stage_id: str) -> int:
    """Measure one stage, and publish its attempt as a result if it is complete."""
    import gc

    gc.disable()
    from stepgrid.host import activity

    first = activity.first_reading_of_job()
    from stepgrid.language.problems import SpecError
    from stepgrid.language.site import current_site
    from stepgrid.plan.plan_file import DAMAGED
    from stepgrid.run.attempt import Job, refuse
    from stepgrid.run.stage import run
    from stepgrid.store.store import Store

    gc.freeze()  # modules are no garbage: neither now nor when the process ends
    gc.enable()
    try:
        site = current_site()
    except (SpecError, OSError) as error:
        return _fail(f"the site file cannot be used: {error}")
    try:
        job = Job.load(Store(data=site.data), plan, stage_id, site, first)
    except DAMAGED as error:
        return _fail(f"the plan {plan} has no stage {stage_id} here: {error.args[-1]}", USAGE)
    try:
        return FINE if run(job) else JOB_FAILED
    except OSError as error:  # before there is an attempt, or while it ends
        return _fail(refuse(job, error).block(job.stage.title))


def collect(plan: str, is_partial: bool = False) -> int:
    """Write the figures of a plan's results as tables; with stages that lack one it fails, unless `is_partial`."""
    from stepgrid.collect.job import collect_stamped
    from stepgrid.model.status import ENDED
    from stepgrid.plan import plan_file
    from stepgrid.store.store import Store

    store = Store()
    try:
        compiled = plan_file.read(store.plan(plan))
    except FileNotFoundError:
        return _fail(f"collect: there is no plan {plan} under {store.root}/plans; start a run first")
    nodes = _try_writing("collect", store, lambda: collect_stamped(store, compiled))
    if nodes is None:
        return JOB_FAILED
    open_stages = [nodes[stage.id] for stage in compiled.stages if nodes[stage.id].status not in ENDED]
    if not open_stages or is_partial:
        return FINE
    return _fail(
        f"collect: {len(open_stages)} of {len(compiled.stages)} stages have no result; the tables hold what there is.\n"
        f"First: {open_stages[0].title}: {open_stages[0].sentence}\n"
        "Run again to measure the rest, or give --partial to summarize without it."
    )


def summarize(plan: str, is_partial: bool = False) -> int:
    """Write the report of a plan's tables: summary.txt and index.html."""
    from stepgrid.store.store import Store
    from stepgrid.summarize.report_files import missing_input, write_stamped

    store = Store()
    if problem := missing_input(store, plan):
        return _fail(f"summarize: {problem}")
    report = _try_writing("summarize", store, lambda: write_stamped(store, plan))
    if report is None:
        return JOB_FAILED
    if report.notes.coverage.incomplete and not is_partial:
        coverage = report.notes.coverage
        print(
            f"summarize: {coverage.incomplete} of {coverage.total} measured steps have no figures; "
            "the report says so on top. Run again to measure them.",
            file=sys.stderr,
        )
    return FINE


def collect_and_summarize(plan: str, is_partial: bool = False) -> int:
    """Do both in one process, which imports and reads much the same for either."""
    return collect(plan, is_partial) or summarize(plan, is_partial)


def _try_writing(job: str, store: Store, write: Callable[[], _T]) -> _T | None:
    """Write what can be made again: on a full disk with the store's reserve; None where the system refuses."""
    from stepgrid.host.files import retry_stale
    from stepgrid.plugins.registry import PluginError
    from stepgrid.store.active_run import DiskFull, is_system_refusal, with_reserve

    try:
        return with_reserve(store, lambda: retry_stale(write))
    except (DiskFull, PluginError) as error:
        _fail(f"{job}: {error}")
    except Exception as error:  # of a disk that fails, or a folder that is no folder
        if not is_system_refusal(error):
            raise
        _fail(f"{job}: the system refused: {error}")
    return None


def _fail(message: str, status: int = JOB_FAILED) -> int:
    print(message, file=sys.stderr)
    return status


MEASURING_JOBS = {"build": build, "run-stage": run_stage}  # they end when the run does, and on its signals
WRITING_JOBS = {"collect": collect, "summarize": summarize, "report": collect_and_summarize}
USAGE_TEXT = "usage: python -m stepgrid.pipeline build|run-stage PLAN ID | collect|summarize|report PLAN [--partial]"


def main(words: Sequence[str]) -> int:
    """Run one job of a run."""
    from stepgrid.host.processes.signals import Interrupted, OrphanedError, follow_parent, interrupt_on_signals

    job, *arguments = words or ("",)
    if job in WRITING_JOBS and arguments and arguments[1:] in ([], ["--partial"]):
        return WRITING_JOBS[job](arguments[0], is_partial=len(arguments) == 2)
    if job not in MEASURING_JOBS or len(arguments) != 2:
        return _fail(USAGE_TEXT, USAGE)
    try:
        interrupt_on_signals()
        follow_parent()
        return MEASURING_JOBS[job](*arguments)
    except OrphanedError as error:
        return _fail(f"not started: {error}")
    except Interrupted as signal:
        return 128 + signal.number


if __name__ == "__main__":
    from stepgrid.host.processes.signals import exit_now
    from stepgrid.host.terminal_output import screened

    with screened():
        exit_now(main(sys.argv[1:]))  # nothing needs a tidy end, which takes 5 ms
