"""Waiting until an engine is idle: looks at it and its IO, and the work that is asked of it meanwhile."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from stepgrid.host.failure import tail
from stepgrid.host.page_cache import write_back
from stepgrid.host.processes.signals import die_with_parent
from stepgrid.host.sampling import ProcessGroup
from stepgrid.plugins.server import Access, IdleReading, ServerEngine
from stepgrid_databases.drivers.db_bench.engine_statistics import compaction_tables, read_count

PAUSE = 1.0  # seconds between two looks; less where a shorter quiet is asked for
LOOKS = 4  # that a stretch of quiet has at least
SHORTEST_PAUSE = 0.01
SHORTEST_RATE = 0.1  # seconds: the rate of an instant says nothing; the next look has it
READS, WRITES = "engine reads", "engine writes"
IDLE_IO = 2**20  # bytes a second: a server writes its log and looks after itself also when nothing is asked of it
WRITE_BACK = "files to write back"
SHORT_WRITE = 0.2  # seconds that a look waits for it: often there is little to write
UNDER_WAY = "statements under way"
PATIENCE = 30.0  # seconds to put back what was set; a statement that is still under way is not waited for
OUTPUT, ERRORS = "drain.stdout", "drain.stderr"
TO_STOP = 10.0  # seconds between SIGTERM and SIGKILL
AT_WORK = "db_bench at work"
COMPACTED = "files being compacted"
ERRORS_TAIL = 65_536  # bytes of its errors: the last statistics, many times over


class Observation(NamedTuple):
    seconds: float  # since the first
    readings: Sequence[IdleReading]

    @property
    def idle(self) -> bool:
        return all(reading.idle for reading in self.readings)


class WaitOutcome(NamedTuple):
    quiet: bool
    since: float | None  # seconds until it became quiet for good; None: it did not
    last: Observation


class WaitLimits(NamedTuple):
    """Seconds of quiet that are waited for, and of the whole wait."""

    quiet: float
    timeout: float


class Clock(NamedTuple):
    now: Callable[[], float]
    sleep: Callable[[float], None]


SYSTEM_CLOCK = Clock(time.monotonic, time.sleep)


def watch(
    look: Callable[[], Sequence[IdleReading]],
    limits: WaitLimits,
    report: Callable[[Observation], None],
    begin: Callable[[], None],
    clock: Clock = SYSTEM_CLOCK,
) -> WaitOutcome:
    """Look until everything is idle for long enough, or the time is over; `begin` the work after the first look."""
    began, begun = clock.now(), False
    since: float | None = None
    while True:
        observation = Observation(clock.now() - began, look())
        report(observation)
        if not begun:
            begin()
            begun = True
        since = (observation.seconds if since is None else since) if observation.idle else None
        if since is not None and observation.seconds - since >= limits.quiet:
            return WaitOutcome(True, since, observation)
        if observation.seconds >= limits.timeout:
            return WaitOutcome(False, None, observation)
        clock.sleep(min(PAUSE, limits.quiet / LOOKS, max(limits.timeout - observation.seconds, SHORTEST_PAUSE)))


class EngineIO:
    """Device IO of the engine's own processes since the last look; that of others beside it holds nobody.

    Without a process, as between two steps of an embedded engine, there are no readings."""

    def __init__(self, leader: int | None) -> None:
        self._group = None if leader is None else ProcessGroup(leader)
        self._last = self._read()

    def readings(self) -> Sequence[IdleReading]:
        (before, earlier), (now, counts) = self._last, self._read()
        seconds = now - before
        if seconds < SHORTEST_RATE:
            return ()
        self._last = now, counts
        return [
            IdleReading(name, round(max(counts[key] - earlier[key], 0) / seconds), IDLE_IO, "B/s")
            for name, key in ((READS, "read_bytes"), (WRITES, "write_bytes"))
            if key in counts and key in earlier  # those of another user's processes cannot be read
        ]

    def _read(self) -> tuple[float, Mapping[str, float]]:
        return time.monotonic(), self._group.sample() if self._group else {}


class WriteBack:
    """Writing of what the kernel holds of the database's files, in a thread: asked for whenever the engine is idle.

    Else it comes up to half a minute later, into what is measured next."""

    def __init__(self, data: Path | None) -> None:
        self._data, self._is_written = data, data is None
        self._thread: threading.Thread | None = None

    def reading(self, is_engine_idle: bool) -> IdleReading:
        if not is_engine_idle:
            self._is_written = self._data is None
        elif not self._is_written and self._thread is None:
            self._thread = threading.Thread(target=write_back, args=(self._data,), daemon=True)
            self._thread.start()
        if self._thread is not None:
            self._thread.join(SHORT_WRITE)
            if not self._thread.is_alive():
                self._thread, self._is_written = None, is_engine_idle
        return IdleReading(WRITE_BACK, 0.0 if self._is_written else 1.0, 0)


class SettleRequest:
    """Statements that ask a server to settle, in a thread: some take as long as the work itself.

    Statistics are asked for first, since their changes are flushed as well, then the flush, whose settings are put back
    at the end.
    """

    def __init__(self, engine: ServerEngine, access: Access, flush: bool, analyze: bool) -> None:
        self._requested, self._over = threading.Event(), threading.Event()
        self._error: Exception | None = None
        self.thread = threading.Thread(target=self._run, args=(engine, access, flush, analyze), daemon=True)

    def _run(self, engine: ServerEngine, access: Access, flush: bool, analyze: bool) -> None:
        try:
            with closing(engine.connect(access)) as connection:
                if analyze:
                    engine.analyze(connection, access)
                with engine.settle(connection, access) if flush else nullcontext():
                    self._requested.set()
                    self._over.wait()
        except Exception as error:  # raised by the next reading
            self._error = error

    def reading(self) -> IdleReading:
        if self._error is not None:
            raise self._error
        return IdleReading(UNDER_WAY, 0.0 if self._requested.is_set() else 1.0, 0)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Wait at the end until every setting is put back; also when the step is stopped."""
        try:
            yield
        finally:
            self._over.set()
            if self.thread.ident is not None:
                self.thread.join(PATIENCE if self._requested.is_set() else 0.0)

    def start(self) -> None:
        self.thread.start()


class DrainProcess:
    """The program that works off an embedded engine's debt; one that is `endless` prints its work and does not end."""

    def __init__(self, argv: Sequence[str], endless: bool, folder: Path) -> None:
        self._argv, self._endless, self._folder = argv, endless, folder
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self._folder / OUTPUT).open("wb") as out, (self._folder / ERRORS).open("wb") as errors:
            self._child = subprocess.Popen(
                list(self._argv), stdin=subprocess.DEVNULL, stdout=out, stderr=errors, preexec_fn=die_with_parent()
            )

    def reading(self) -> IdleReading:
        status = self._child.poll() if self._child else None
        if status:
            texts = [(self._folder / name).read_text(encoding="utf-8", errors="replace") for name in (ERRORS, OUTPUT)]
            lines = [line.strip() for text in texts for line in text.splitlines()[-3:] if line.strip()]
            message = " / ".join(lines[:3]) or "it said nothing"
            raise ChildProcessError(f"db_bench ended with status {status}: {message}")
        if self._endless:
            return self._compacted()
        return IdleReading(AT_WORK, 1.0 if self._child is None or status is None else 0.0, 0)

    def _compacted(self) -> IdleReading:
        """Read the files being compacted; before the first statistics, that counts as work."""
        tables = compaction_tables(tail(self._folder / ERRORS, ERRORS_TAIL)) if self._child is not None else ()
        files = tables[-1].get("Sum", {}).get("Files", "") if tables else ""
        at_work = read_count(files.partition("/")[2])
        return IdleReading(AT_WORK, 1.0, 0) if at_work is None else IdleReading(COMPACTED, at_work, 0)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """End the program at the end; a database that is killed in the middle of a compaction is whole."""
        try:
            yield
        finally:
            if self._child is not None and self._child.poll() is None:
                self._child.terminate()
                try:
                    self._child.wait(TO_STOP)
                except subprocess.TimeoutExpired:
                    self._child.kill()
                    self._child.wait()
