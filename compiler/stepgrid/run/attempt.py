"""One run of a stage, from the first line of its journal to a result or a failure."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stepgrid.host import cluster_job, facts
from stepgrid.host.disk import is_disk_full
from stepgrid.host.failure import StageError
from stepgrid.host.files import write_json
from stepgrid.host.locks import LockBusy, locked
from stepgrid.host.processes import signals
from stepgrid.host.processes.signals import MARK
from stepgrid.model.status import Status
from stepgrid.run.job_context import Job
from stepgrid.store import active_run, results
from stepgrid.store.active_run import DiskFull, full_disk_sentence, with_reserve
from stepgrid.store.attempts import write_failure
from stepgrid.store.paths import now
from stepgrid.store.store import Store

JOURNAL = "journal.jsonl"
BEGUN = "begun"  # its first event; before it the attempt waits for the host


class Attempt:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.folder = job.store.new_attempt(job.stage.id)
        os.environ[MARK] = str(self.folder.absolute())  # for all that this job starts
        self.started = now()
        self._began = time.monotonic()  # the clock of the wall may be set meanwhile
        self._waited = 0.0
        self.steps: list[Mapping[str, Any]] = []
        self._record: dict[str, Any] = {
            "stage": job.stage.id,
            "attempt": self.folder.name,
            "plan": job.plan,
            "build": job.stage.build,
            **({"clients": list(job.stage.clients)} if job.stage.clients else {}),
            "started": self.started,
            "pid": os.getpid(),
            "hostname": platform.node(),
            **({cluster_job.NODE: cluster_job.node()} if cluster_job.active() else {}),
        }
        write_json(self.folder / "attempt.json", self._record, durable=False)

    def note(self, **fields: Any) -> None:
        """Adds to attempt.json."""
        self._record |= fields
        write_json(self.folder / "attempt.json", self._record, durable=False)

    def describe_host(self, data: Path) -> dict[str, Any]:
        device = self.job.site.device
        hardware = facts.hardware(data, device)
        self.note(host={**facts.facts(data, device), "hardware": hardware})
        return hardware

    def begin(self) -> None:
        """The waiting is over: what is timed begins."""
        self._waited = time.monotonic() - self._began
        self.started, self._began = now(), time.monotonic()
        self.note(started=self.started)
        self.journal(BEGUN)

    def journal(self, event: str, **fields: Any) -> None:
        line = json.dumps({"t": round(time.time(), 3), "event": event, **fields})
        with (self.folder / JOURNAL).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def publish(self, status: str, reason: str | None = None) -> Path:
        result = {
            "stage": self.job.stage.id,
            "attempt": self.folder.name,
            "status": status,
            "reason": reason,
            "started": self.started,
            "ended": now(),
            "seconds": round(time.monotonic() - self._began, 3),
            "waited": round(self._waited, 3),
            "build": self.job.stage.build,
            "steps": self.steps,
            # last: who looks at many results reads their first bytes alone
            "files": results.result_checksums(self.folder),
        }
        store = self.job.store
        try:
            with_reserve(store, lambda: write_json(self.folder / "result.json", result))
            return with_reserve(store, lambda: store.publish_result(self.job.stage.id, self.folder))
        except DiskFull as full:
            raise StageError(str(full)) from None

    def fail(self, failure: StageError, status: str = Status.FAILED) -> None:
        with_reserve(self.job.store, lambda: write_failure(self.folder, self.job.stage.id, failure, status))


def refuse(job: Job, error: OSError) -> StageError:
    """A stage whose attempt could not begin, or end, gets one that says why, with the space kept in reserve."""
    node, full = job.stage.id, is_disk_full(error)
    failure = StageError(full_disk_sentence(job.store) if full else f"the system refused: {error}")
    if full:
        active_run.release_reserve(job.store)
    with suppress(OSError, LockBusy), locked(job.store.lock(node), wait=False):
        last = job.store.attempts(node)[-1:]
        begun = next((folder for folder in last if not (folder / "failure.json").exists()), None)
        write_failure(begun or job.store.new_attempt(node), node, failure, Status.FAILED)
    return failure


def close_abandoned(store: Store, stage: str) -> None:
    """Attempts whose runner was killed: call it with the stage's lock held, so that none of them can be running."""
    for folder in store.attempts(stage):
        if not (folder / "failure.json").exists():
            signals.kill_attempt(folder / JOURNAL, (store.root, store.data))
            write_failure(folder, stage, StageError("the process that ran it was killed"), Status.INTERRUPTED)
