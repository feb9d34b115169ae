"""A stage from its lock to its result."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.build.record import changed
from stepgrid.host.disk import disk_full, is_disk_full, power_disk
from stepgrid.host.facts import machine_difference
from stepgrid.host.failure import StageError, UnsupportedError
from stepgrid.host.files import find_record, write_json
from stepgrid.host.locks import host_lock, host_lock_path, locked
from stepgrid.host.noise import quiet
from stepgrid.host.page_cache import set_up
from stepgrid.host.processes.signals import Interrupted
from stepgrid.host.speed import host_speed
from stepgrid.model.plan import PlannedStage
from stepgrid.model.records import HostUse, NoiseRecord, ResultRecord, StepRecord, replace
from stepgrid.model.status import BrokenRecord, Result, Status
from stepgrid.plan.plan_file import DAMAGED
from stepgrid.plugins.registry import power_setting
from stepgrid.run import options
from stepgrid.run.attempt import Attempt, Job, close_abandoned
from stepgrid.run.bench import StageRun
from stepgrid.run.disk_budget import learn, make_room
from stepgrid.run.end_time import DeadlineError, skip_if_late
from stepgrid.run.images import Start, distrusting, is_managed, keep, lacks_results, live_database, prepare
from stepgrid.run.step import refuse_unknown_kinds
from stepgrid.store.active_run import DiskFull, read_run_record
from stepgrid.store.attempts import heartbeat, read_failure
from stepgrid.store.paths import FAILURE_FILE, RESULT_FILE, UNREAD_FILE, names_in
from stepgrid.store.results import checksum_difference, result_fault, result_record, set_aside
from stepgrid.store.stage_requests import pending_redo
from stepgrid.store.status import job_status

if TYPE_CHECKING:
    from stepgrid.collect.result_figures import ResultFigures


def run(job: Job) -> bool:
    """Run the stage unless it has a result; tell whether it has one now."""
    if _has_result(job):
        return True
    if skip_if_late(job.store, job.plan, job.stage):
        return False

    def announce_wait(holders: list[int]) -> None:
        names = ", ".join(str(pid) for pid in holders) or "unknown"
        print(f"waiting: another process ({names}) runs {job.stage.title}", file=sys.stderr, flush=True)

    with locked(job.store.lock(job.stage.id), waiting=announce_wait):
        if _has_result(job):
            return True
        _set_broken_results_aside(job)
        if _has_result(job):  # an older one
            return True
        close_abandoned(job.store, job.stage.id)
        return _publish_unread(job) or _attempt(job)


def _has_result(job: Job) -> bool:
    if pending_redo(job.store, job.stage.id):
        return False
    result = job.store.result(job.stage.id)
    if result is None or result_fault(result, job.stage):
        return False
    job.store.set_mark(job.stage.id, result / RESULT_FILE)
    return True


def _set_broken_results_aside(job: Job) -> None:
    """Set aside what broke since the run that starts the jobs has looked: seldom anything."""
    for result in job.store.results(job.stage.id):
        if reason := result_fault(result, job.stage):
            print(set_aside(job.store, BrokenRecord(job.stage.id, result, reason)), file=sys.stderr, flush=True)


def _attempt(job: Job) -> bool:
    attempt = Attempt(job)
    try:
        _refuse_likely_unread(job)
        with heartbeat(attempt.folder):
            return _measure_or_refuse(attempt) in (Status.DONE, Status.UNSUPPORTED)
    except StageError as failure:
        _write_failure(attempt, failure)
    except DeadlineError as error:
        attempt.fail(StageError(str(error)), Status.INTERRUPTED)
    except Interrupted as signal:
        with suppress(OSError):
            attempt.fail(StageError(f"stopped by {signal}"), Status.INTERRUPTED)
        raise
    return False


def _measure_or_refuse(attempt: Attempt) -> Status:
    try:
        _measure(attempt)
    except UnsupportedError as reason:
        attempt.publish("unsupported", str(reason))
        return Status.UNSUPPORTED
    except (StageError, DeadlineError):
        raise
    except OSError as error:
        raise _system_failure(error, attempt.folder) from error
    except Exception as error:  # a fault of ours: the stage fails like any other, the rest goes on
        raise _own_failure(attempt, error) from error
    return Status.DONE


def _measure(attempt: Attempt) -> None:
    job = attempt.job
    _refuse_unsupported_parent(job)
    refuse_unknown_kinds(job.stage)
    accepted = options.check(job, job.stage)
    options.check_later(job)
    chain = (*job.ancestors(), job.stage)  # a stage before it may have to be replayed
    cuts_power = any(power_setting(step.kind, step.settings) for stage in chain for step in stage.steps)
    with (
        host_lock(shared=False, estimate=partial(_host_use, job)),
        live_database(job.store, job.stage.id) as live,
        _explain_system_errors(attempt, live),
        _quiet(attempt, live) as noise,
        power_disk(live) if cuts_power else nullcontext(live) as data,
    ):
        if skip_if_late(job.store, job.plan, job.stage):  # by now: it may have waited for the host
            raise DeadlineError("when the host was free it was too late to start before the run is to stop")
        attempt.begin(noise=noise)
        if request := pending_redo(job.store, job.stage.id):
            attempt.note(request={"who": request.author, "when": request.when, "why": request.why})
        _refuse_changed_build(job)
        start = _make_database(attempt, data)
        with distrusting(attempt, start.image, job.stage):
            attempt.steps.extend(StageRun(attempt, job.stage, attempt.folder, data).run(accepted))
        _refuse_changed_build(job)
        if is_managed(attempt):
            learn(attempt, data, start)
            if lacks_results(attempt, job.stage):
                _keep_image(attempt, data)
        if attempt.unread:
            attempt.keep_unread()
            raise attempt.unread
        _read_figures(attempt.folder, attempt.steps, job.stage)
        attempt.publish("done")


def _host_use(job: Job) -> HostUse:
    """Estimate for those who wait how long this stage takes, and its run."""
    use = HostUse(os.getpid(), time.time())
    try:
        status = job_status(job.store, job.plan)
    except DAMAGED:
        return use
    return replace(use, seconds=status.nodes[job.stage.id].seconds, run_seconds=status.eta.seconds)


def _read_figures(folder: Path, steps: Sequence[StepRecord], stage: PlannedStage) -> ResultFigures:
    """Parse the output into the result's own figures; where they are missing, readers take the raw output."""
    from stepgrid.collect.result_figures import read_result

    folders = tuple(next(folder.glob(f"steps/{position}-*")) for position in range(len(steps)))
    return read_result(Result(folder, steps=tuple(steps), folders=folders), stage.steps)


# Output in which something required was not found. No measurement mends a pattern: the output is kept whole, a changed
# spec reads it again, and a run stops measuring where one stage after the other fails so.

ENOUGH = 2  # stages that fail alike


def _publish_unread(job: Job) -> bool:
    """Publish the newest attempt whose output has what the spec asks for now."""
    if pending_redo(job.store, job.stage.id):
        return False
    for folder in reversed(job.store.attempts(job.stage.id)):
        record = find_record(folder / UNREAD_FILE, ResultRecord)
        if record and _is_readable(folder, record, job.stage):
            write_json(folder / RESULT_FILE, record)
            for name in (UNREAD_FILE, FAILURE_FILE):
                (folder / name).unlink(missing_ok=True)
            job.store.publish_result(job.stage.id, folder)
            print(f"{job.stage.title}: read again from kept output, not measured", file=sys.stderr, flush=True)
            return True
    return False


def _is_readable(folder: Path, record: ResultRecord, stage: PlannedStage) -> bool:
    if len(record.steps) != len(stage.steps) or checksum_difference(folder, record.files):
        return False
    return not any(step.error for step in _read_figures(folder, record.steps, stage).steps)


def _refuse_likely_unread(job: Job) -> None:
    """Refuse where stages of this run failed because the output of such a step lacks something, and none has it."""
    run, step = read_run_record(job.store), job.stage.steps[-1].name
    if run is None or run.plan != job.plan:
        return
    stages = job.stages.keys()
    failed = stages & names_in(job.store.attempts_of("_").parent)
    failures = [failure for stage in failed if (failure := _unread_failure(job, stage, run.started.timestamp()))]
    messages = Counter(failure.message for failure in failures if failure.step == step)
    message, count = max(messages.items(), key=lambda item: item[1], default=("", 0))
    if count < ENOUGH:
        return
    measured = sorted(stages & job.store.stages_with_results())
    if not any(job.stages[stage].steps[-1].name == step for stage in measured):
        raise StageError(
            f"not measured, because {count} stages before it failed alike ({message}): change what the spec looks for, "
            "and the next run reads their output again",
            step,
        )


def _unread_failure(job: Job, stage: str, since: float) -> StageError | None:
    for folder in reversed(job.store.attempts(stage)):
        if (folder / UNREAD_FILE).is_file() and (folder / FAILURE_FILE).is_file():
            is_of_run = (folder / FAILURE_FILE).stat().st_mtime >= since
            return read_failure(folder) if is_of_run else None
    return None


def _make_database(attempt: Attempt, data: Path) -> Start:
    if not is_managed(attempt):
        return prepare(attempt, data)
    make_room(attempt, data)
    start = prepare(attempt, data)
    steps = attempt.job.stage.steps
    is_limited = any(step.setup.launch.memory for step in steps)
    # pages that we read would not count to a limit of memory
    attempt.note(cache=set_up(data, steps[0].setup.start, start.image is not None and not is_limited))
    return start


@contextmanager
def _quiet(attempt: Attempt, data: Path) -> Iterator[NoiseRecord | None]:
    """Look at the host, after what can be done while the look, which began with the job, goes on."""
    attempt.end_wait()
    job, site = attempt.job, attempt.job.site
    _refuse_other_hardware(attempt, data)
    import stepgrid.collect.result_figures  # noqa: F401  # for _read_figures

    measured = any(step.measured for step in job.stage.steps)
    with quiet(job.store.data, site, host_lock_path(), measured, job.first) as noise:
        if noise:  # with the settings that the steps will have
            attempt.note_host(host_speed(job.store.data, host_lock_path()))
        yield noise


def _refuse_other_hardware(attempt: Attempt, data: Path) -> None:
    plan = attempt.job.whole_plan
    declared = plan.machines.get(attempt.job.stage.hardware) or plan.hardware
    if difference := machine_difference(declared, attempt.describe_host(data)):
        raise StageError(f"this is not the hardware of the spec: {difference}")


def _keep_image(attempt: Attempt, data: Path) -> None:
    """Keep a cache: what was measured stands without it."""
    job = attempt.job
    try:
        keep(attempt, job.stage, data)
    except OSError as error:
        attempt.journal("image not saved", why=str(error))
        if job.store.image(job.stage.id).exists():  # of an earlier attempt: what starts from it would start elsewhere
            job.store.discard_image(job.stage.id, job.stage.id)
        again = "every stage that starts from it will have to run it again"
        print(f"{job.stage.title}: its database could not be kept ({error}): {again}", file=sys.stderr, flush=True)


def _refuse_changed_build(job: Job) -> None:
    """Compare before the first step and after the last: figures of two binaries under one name are worth nothing."""
    for build in job.stage.builds:
        if sentence := changed(job.installed_build(build).record):
            raise StageError(sentence)


def _refuse_unsupported_parent(job: Job) -> None:
    result = job.store.result(job.stage.parent) if job.stage.parent else None
    record = result_record(result) if result else None  # one that is lost is measured again by the next run
    if record and record.status == "unsupported":
        raise UnsupportedError(record.reason or "the stage before it is unsupported")


@contextmanager
def _explain_system_errors(attempt: Attempt, data: Path) -> Iterator[None]:
    """Explain inside the live database's block, so that the free space named is what was left beside it."""
    try:
        yield
    except OSError as error:
        raise _system_failure(error, attempt.folder, data) from error


def _system_failure(error: OSError, *folders: Path) -> StageError:
    if isinstance(error, FileNotFoundError) and not folders[0].exists():
        return StageError(f"{folders[0]} was removed while it ran")
    return StageError(disk_full(*folders) if is_disk_full(error) else f"the system refused: {error}")


def _own_failure(attempt: Attempt, error: Exception) -> StageError:
    path = attempt.folder / "traceback.txt"
    with suppress(OSError):
        path.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    return StageError(f"a fault of stepgrid itself ({type(error).__name__}: {error}); please report it", log=path)


def _write_failure(attempt: Attempt, failure: StageError) -> None:
    """Write it when the live database is gone: on a full disk that is what leaves room for this file."""
    print(failure.block(attempt.job.stage.title), file=sys.stderr, flush=True)
    try:
        attempt.fail(failure)
    except (OSError, DiskFull) as error:
        print(f"  failure.json could not be written: {error}", file=sys.stderr, flush=True)
