"""Jobs that were killed while the run went on: they could not say so themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from stepgrid.host.failure import StageError
from stepgrid.host.locks import LockBusy, locked
from stepgrid.host.processes import signals
from stepgrid.model.plan import BUILD_PREFIX
from stepgrid.model.status import Status
from stepgrid.model.units import counted, duration
from stepgrid.run.attempt import JOURNAL
from stepgrid.run.run_end_time import in_force
from stepgrid.store import active_run
from stepgrid.store.status.failures import write_failure
from stepgrid.store.status.reader import job_status
from stepgrid.workflow.remaining_work import RemainingWork

WHY = "the process that ran it was killed (by the kernel when memory runs out, or by someone)"


def close(work: RemainingWork) -> Iterator[str]:
    """A failure for each attempt without an end, and what the screen says of it. A lock that is held: it is running."""
    for node in sorted(work.lacking):
        with suppress(LockBusy, OSError), locked(work.store.lock(node), wait=False):
            for attempt in work.store.attempts(node)[-1:]:
                if not (attempt / "failure.json").exists():
                    yield _closed(work, node, attempt).block(work.title(node))


def _closed(work: RemainingWork, node: str, attempt: Path) -> StageError:
    if node.startswith(BUILD_PREFIX):
        from stepgrid.build import commands, job  # nearly every run gets here, and few were killed in a build

        tail = job.fail(attempt, node, Status.FAILED, WHY)  # its tree goes at once: it may never be tried again
        return StageError(WHY, log=attempt / commands.LOG, tail=tail)
    signals.kill_attempt(attempt / JOURNAL, (work.store.root, work.store.data))
    failure = StageError(WHY)
    write_failure(attempt, node, failure, Status.FAILED)
    return failure


# The last word about stages that a run left because they would not have ended in time.


class UnstartedStage(NamedTuple):
    sentence: str
    in_order: bool  # nothing failed: the run did what it was asked for


def unstarted(work: RemainingWork) -> UnstartedStage | None:
    until, noted = in_force(), active_run.skipped_stages(work.store)
    if until is None or not noted:
        return None
    status = job_status(work.store, work.plan.digest)
    first = min(noted, key=work.rank)
    takes = noted[first]
    needs = "takes a time that is not known" if takes is None else f"needs about {duration(takes)}"
    stages = len(status.stages) - len(status.of(Status.ELSEWHERE))
    stopped = {node.id for node in status.of(Status.INTERRUPTED)}
    left = len(status.of(Status.MISSING, Status.INTERRUPTED))
    far = f"{left} of {counted(stages, 'stage')} left, the next {needs}"
    return UnstartedStage(f"stopped at {until.text}: {far}", not status.has_failed and stopped <= noted.keys())
