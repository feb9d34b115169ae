"""Snakemake's notes on its jobs, which nothing of ours needs: where they cannot be written, the run goes on."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from stepgrid.host import files

OWNER = ".stepgrid."  # begins the name of a file in Snakemake's temporary folder; the process that uses it ends it


def mark_folder(folder: Path) -> None:
    """Remove temporary folders of runs that were killed, and mark this one's."""
    for mark in Path(tempfile.gettempdir()).glob(f"snakemake*/{OWNER}*"):
        process = mark.name.removeprefix(OWNER)
        if mark.lstat().st_uid == os.getuid() and files.has_dead_owner(process):
            shutil.rmtree(mark.parent, ignore_errors=True)
    with suppress(OSError):
        (folder / f"{OWNER}{files.temporary_suffix()}").touch()


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
