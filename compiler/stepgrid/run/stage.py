"""One stage from its lock to its result."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from stepgrid.build.record import changed
from stepgrid.host.disk import disk_full, is_disk_full
from stepgrid.host.facts import machine_difference
from stepgrid.host.failure import StageError, UnsupportedError
from stepgrid.host.locks import host_lock, locked
from stepgrid.host.locks import host_lock_path as lock_path
from stepgrid.host.noise import quiet
from stepgrid.host.page_cache import set_up
from stepgrid.host.processes.signals import Interrupted
from stepgrid.model.plan import PlannedStep
from stepgrid.model.status import BrokenRecord, Result, Status
from stepgrid.run import accepted_options, progress
from stepgrid.run.attempt import Attempt, close_abandoned
from stepgrid.run.images import image
from stepgrid.run.images.disk_budget import make_room
from stepgrid.run.images.disk_space import learn
from stepgrid.run.images.live_databases import live
from stepgrid.run.images.starting_database import Start, immutable, lacks_results, ours, prepare
from stepgrid.run.images.trust import distrusting
from stepgrid.run.job_context import Job
from stepgrid.run.late_start import DeadlineError, late, refuse_late
from stepgrid.run.steps import Bench, refuse_what_cannot_run
from stepgrid.store.active_run import DiskFull
from stepgrid.store.attempts import heartbeat
from stepgrid.store.results import record_fault, result_fault, set_aside
from stepgrid.store.stage_requests import pending_redo


def run(job: Job) -> bool:
    """Whether the stage has a result now."""
    if _has_result(job):
        return True
    if late(job.store, job.plan, job.stage):
        return False
    with locked(job.store.lock(job.stage.id), waiting=lambda holders: _say_waiting(job, holders)):
        if _has_result(job):
            return True
        _set_aside_what_is_broken(job)
        if _has_result(job):  # an older one
            return True
        close_abandoned(job.store, job.stage.id)
        return _attempt(job)


def _has_result(job: Job) -> bool:
    if pending_redo(job.store, job.stage.id):
        return False
    result = job.store.result(job.stage.id)
    if result is None or result_fault(result, job.stage):
        return False
    job.store.set_mark(job.stage.id, result / "result.json")
    return True


def _set_aside_what_is_broken(job: Job) -> None:
    """Seldom: the run that starts the jobs has looked before."""
    for result in job.store.results(job.stage.id):
        if why := result_fault(result, job.stage):
            print(set_aside(job.store, BrokenRecord(job.stage.id, result, why)), file=sys.stderr, flush=True)


def _attempt(job: Job) -> bool:
    attempt = Attempt(job)
    with suppress(OSError):  # what it says is for people
        progress.started(job.store, job.plan, job.stage)
    status = Status.FAILED
    try:
        with heartbeat(attempt.folder):
            status = _outcome(attempt)
    except StageError as failure:
        _failed(attempt, failure)
    except DeadlineError as left:
        status = Status.INTERRUPTED
        attempt.fail(StageError(str(left)), Status.INTERRUPTED)
    except Interrupted as signal:
        status = Status.INTERRUPTED
        with suppress(OSError):
            attempt.fail(StageError(f"stopped by {signal}"), Status.INTERRUPTED)
        raise
    finally:
        with suppress(OSError):
            progress.finished(job.store, job.plan, job.stage, status)
    return status in (Status.DONE, Status.UNSUPPORTED)


def _outcome(attempt: Attempt) -> Status:
    try:
        _measure(attempt)
    except UnsupportedError as reason:
        attempt.publish(Status.UNSUPPORTED, str(reason))
        return Status.UNSUPPORTED
    except (StageError, DeadlineError):
        raise
    except OSError as error:
        raise _refused(error, attempt.folder) from error
    except Exception as error:  # a fault of ours: the stage fails like any other, the rest goes on
        raise _fault(attempt, error) from error
    return Status.DONE


def _measure(attempt: Attempt) -> None:
    job = attempt.job
    _refuse_unsupported_parent(job)
    refuse_what_cannot_run(job.stage)
    accepted = accepted_options.check(job, job.stage)
    accepted_options.check_later(job)
    with host_lock(shared=False), live(job.store, job.stage.id) as data, _system_errors(attempt, data), _quiet(attempt):
        refuse_late(job.store, job.plan, job.stage)
        attempt.begin()
        with suppress(OSError):
            progress.begun()
        _note_who_asked(attempt)
        if job.stage.contents:
            attempt.note(contents=job.stage.contents)
        _refuse_other_host(job, attempt.describe_host(data))
        _refuse_changed_build(job)
        start = _database(attempt, data)
        with distrusting(attempt, start.image, job.stage):
            attempt.steps.extend(Bench(attempt, job.stage, attempt.folder, data).run(accepted))
        _refuse_changed_build(job)
        if ours(attempt):
            learn(attempt, data, start)
            if lacks_results(attempt, job.stage):
                _keep_image(attempt, data)
        _keep_figures(attempt)
        attempt.publish(Status.DONE)


def _keep_figures(attempt: Attempt) -> None:
    """Tables and reports take them from there; whoever misses them reads the raw output."""
    from stepgrid.collect.step_figures import read_result  # after the measurement: importing takes a moment

    count = len(attempt.steps)
    folders = [next(attempt.folder.glob(f"steps/{position}-*")) for position in range(count)]
    read_result(Result(attempt.folder, steps=tuple(attempt.steps), folders=tuple(folders)), attempt.job.stage.steps)


def _database(attempt: Attempt, data: Path) -> Start:
    if not ours(attempt):
        return prepare(attempt, data)
    make_room(attempt, data)
    start = prepare(attempt, data)
    steps = attempt.job.stage.steps
    restored = start.image is not None and not any(map(_limits_memory, steps))
    attempt.note(cache=set_up(data, steps[0].setup.get("start"), restored))
    return start


def _limits_memory(step: PlannedStep) -> bool:
    """Pages that we read would not count to it."""
    launch = step.setup.get("launch")
    return isinstance(launch, Mapping) and "memory" in launch


@contextmanager
def _quiet(attempt: Attempt) -> Iterator[None]:
    job, site = attempt.job, attempt.job.site
    measured = any(step.measured for step in job.stage.steps)
    with quiet(job.store.data, site, lock_path(), measured, job.first) as noise:
        if noise:
            attempt.note(noise=noise)
        if why := noise.get("warning"):
            progress.say(f"{job.stage.title}: the host is not quiet, its figures will say so: {why}")
        yield


def _note_who_asked(attempt: Attempt) -> None:
    if found := pending_redo(attempt.job.store, attempt.job.stage.id):
        attempt.note(asked={"who": found.author, "when": found.when, "why": found.why})


def _keep_image(attempt: Attempt, data: Path) -> None:
    """A cache: what was measured stands without it."""
    job = attempt.job
    try:
        image.keep(attempt, job.stage, data, immutable(attempt))
    except OSError as error:
        attempt.journal("image not saved", why=str(error))
        if job.store.image(job.stage.id).exists():  # of an earlier attempt: what starts from it would start elsewhere
            job.store.discard_image(job.stage.id, job.stage.id)
        again = "every stage that starts from it will have to run it again"
        print(f"{job.stage.title}: its database could not be kept ({error}): {again}", file=sys.stderr, flush=True)


def _refuse_changed_build(job: Job) -> None:
    """Before the first step and after the last: figures of two binaries under one name would be worth nothing."""
    for build in job.stage.builds:
        if job.made(build).record and (sentence := changed(job.store.build(build))):
            raise StageError(sentence)


def _refuse_unsupported_parent(job: Job) -> None:
    result = job.store.result(job.stage.parent) if job.stage.parent else None
    if result and record_fault(result / "result.json"):
        return  # lost: the next run measures it again
    record = json.loads((result / "result.json").read_text(encoding="utf-8")) if result else {}
    if record.get("status") == Status.UNSUPPORTED:
        raise UnsupportedError(record.get("reason") or "the stage before it is unsupported")


def _refuse_other_host(job: Job, actual: dict[str, Any]) -> None:
    declared = job.header.machines.get(job.stage.hardware) or job.header.hardware
    if differs := machine_difference(declared, actual):
        raise StageError(f"this is not the hardware of the spec: {differs}")


@contextmanager
def _system_errors(attempt: Attempt, data: Path) -> Iterator[None]:
    """Inside the live database's block, so that the free space named is what was left with it there."""
    try:
        yield
    except OSError as error:
        raise _refused(error, attempt.folder, data) from error


def _refused(error: OSError, *folders: Path) -> StageError:
    if isinstance(error, FileNotFoundError) and not folders[0].exists():
        return StageError(f"{folders[0]} was removed while it ran")
    return StageError(disk_full(*folders) if is_disk_full(error) else f"the system refused: {error}")


def _fault(attempt: Attempt, error: Exception) -> StageError:
    path = attempt.folder / "traceback.txt"
    with suppress(OSError):
        path.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    return StageError(f"a fault of stepgrid itself ({type(error).__name__}: {error}); please report it", log=path)


def _failed(attempt: Attempt, failure: StageError) -> None:
    """The live database is gone by now: on a full disk that is what leaves room for this file."""
    print(failure.block(attempt.job.stage.title), file=sys.stderr, flush=True)
    try:
        attempt.fail(failure)
    except (OSError, DiskFull) as error:
        print(f"  failure.json could not be written: {error}", file=sys.stderr, flush=True)


def _say_waiting(job: Job, holders: list[int]) -> None:
    who = ", ".join(str(pid) for pid in holders) or "unknown"
    print(f"waiting: another process ({who}) runs {job.stage.title}", file=sys.stderr, flush=True)
