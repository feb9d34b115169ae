"""Jobs that were killed while the run went on: they could not say so themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from stepgrid.host.failure import StageError
from stepgrid.host.locks import Busy, locked
from stepgrid.host.processes import orphans
from stepgrid.model.plan import BUILD_PREFIX
from stepgrid.run.attempt import FAILED, JOURNAL, write_failure
from stepgrid.workflow.remaining_work import Work

WHY = "the process that ran it was killed (by the kernel when memory runs out, or by someone)"


def close(work: Work) -> Iterator[str]:
    """A failure for each attempt without an end, and what the screen says of it. A lock that is held: it is running."""
    for node in sorted(work.lacking):
        with suppress(Busy, OSError), locked(work.store.lock(node), wait=False):
            for attempt in work.store.attempts(node)[-1:]:
                if not (attempt / "failure.json").exists():
                    yield _closed(work, node, attempt).block(work.title(node))


def _closed(work: Work, node: str, attempt: Path) -> StageError:
    if node.startswith(BUILD_PREFIX):
        from stepgrid.build import attempt as builds  # nearly every run gets here, and few were killed in a build

        tail = builds.fail(attempt, node, FAILED, WHY)  # its tree goes at once: it may never be tried again
        return StageError(WHY, log=attempt / builds.LOG, tail=tail)
    orphans.end(work.store, attempt / JOURNAL)
    failure = StageError(WHY)
    write_failure(attempt, node, failure, FAILED)
    return failure
