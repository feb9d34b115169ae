"""What jobs of a cluster would say on this screen: which stages and builds have ended, and why they failed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from stepgrid.host import cluster_job
from stepgrid.model.status import NodeStatus, PlanStatus, Status
from stepgrid.run.progress import head
from stepgrid.store.status.failures import read_failure
from stepgrid.store.status.reader import StatusReader, job_reader
from stepgrid.store.store import Store

EVERY = 5.0  # seconds between two looks at the store
LOST = 400.0  # seconds: more than the executor for SLURM waits between two looks, and a summary takes
FORGOTTEN = (
    "all stages have ended, and the cluster has not said so of every job: a controller that was killed forgets the "
    "newest. Stop with Ctrl-C; the same command goes on"
)
_SAID = (Status.DONE, Status.UNSUPPORTED, Status.FAILED, Status.INTERRUPTED)


@dataclass(slots=True)
class JobScreen:
    store: Store
    plan: str
    say: Callable[[str], None]
    _reader: StatusReader = field(init=False)
    _before: Mapping[str, NodeStatus] = field(init=False)
    _over: threading.Event = field(default_factory=threading.Event)
    _watcher: threading.Thread | None = None
    _ended: float | None = None  # since when nothing is left to run

    def start(self) -> None:
        """Nothing where jobs run on this machine: they have the screen."""
        if cluster_job.active():
            self._reader = job_reader(self.store, self.plan)
            self._before = self._reader.read().nodes
            self._watcher = threading.Thread(target=self._watch, daemon=True)
            self._watcher.start()

    def stop(self) -> None:
        """After the last word."""
        if self._watcher is not None:
            self._over.set()
            self._watcher.join(timeout=EVERY)
            self._watcher = None
            self._look()

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            self._look()

    def _look(self) -> None:
        with suppress(OSError):  # a store that cannot be read now
            now = self._reader.read()
            before, self._before = self._before, now.nodes
            for sentence in (*self._news(before, now), *self._waits(now)):
                self.say(sentence)

    def _news(self, before: Mapping[str, NodeStatus], now: PlanStatus) -> Iterator[str]:
        for node in now.nodes.values():
            if node.status in _SAID and node.status is not before[node.id].status:
                yield self._told(node, now)

    def _waits(self, now: PlanStatus) -> Iterator[str]:
        """Once, where the run waits for jobs that nobody knows any more."""
        if any(node.status not in (*_SAID, Status.ELSEWHERE, Status.BLOCKED) for node in now.nodes.values()):
            self._ended = None
        elif self._ended is None:
            self._ended = time.monotonic()
        elif time.monotonic() - self._ended > LOST:
            self._ended = float("inf")
            yield FORGOTTEN

    def _told(self, node: NodeStatus, now: PlanStatus) -> str:
        attempt = self.store.attempts(node.id)[-1:] if node.status is Status.FAILED else []
        if attempt and (failure := read_failure(attempt[0])):
            return failure.block(node.title)
        why = f" ({node.reason})" if node.reason else ""
        return f"{head(now)} | {node.title}: {node.status}{node.time_taken}{why}"
