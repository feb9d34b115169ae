"""Snakemake's notes on its jobs, which nothing of ours needs: where they cannot be written, the run goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


def spare(persistence: Any) -> None:
    """`persistence`: Snakemake's."""
    started, finished, cleanup = persistence.started, persistence.finished, persistence.cleanup

    def register(job: Any, external_jobid: str | None = None) -> None:
        with _unless_impossible(cleanup, job):
            started(job, external_jobid)

    async def finish(job: Any) -> None:
        with _unless_impossible(cleanup, job):
            await finished(job)

    persistence.started, persistence.finished = register, finish


@contextmanager
def _unless_impossible(cleanup: Callable[[Any], None], job: Any) -> Iterator[None]:
    """Half a note goes: it would be a warning in the next run."""
    try:
        yield
    except OSError:
        with suppress(OSError):
            cleanup(job)
