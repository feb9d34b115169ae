"""Waiting until an engine is idle: looks at it and its device, and the work that is asked of it meanwhile."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from stepgrid.drivers.db_bench.engine_statistics import compaction_tables, read_count
from stepgrid.host import counters, disk
from stepgrid.host.failure import tail
from stepgrid.host.processes.signals import die_with_parent
from stepgrid.plugins.server import Access, IdleReading, ServerEngine

PAUSE = 1.0  # seconds between two looks; less where a shorter quiet is asked for
LOOKS = 4  # that a stretch of quiet has at least
SHORTEST_PAUSE = 0.01
SECTOR = 512
SHORTEST_RATE = 0.1  # seconds: the rate of an instant says nothing; the next look has it
BUSY, WRITES = "device busy", "device writes"
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


class Outcome(NamedTuple):
    quiet: bool
    since: float | None  # seconds until it became quiet for good; None: it did not
    last: Observation


class Limits(NamedTuple):
    """Seconds of quiet that are waited for, and of the whole wait."""

    quiet: float
    timeout: float


class Clock(NamedTuple):
    now: Callable[[], float]
    sleep: Callable[[float], None]


SYSTEM_CLOCK = Clock(time.monotonic, time.sleep)


def watch(
    look: Callable[[], Sequence[IdleReading]],
    limits: Limits,
    report: Callable[[Observation], None],
    begin: Callable[[], None],
    clock: Clock = SYSTEM_CLOCK,
) -> Outcome:
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
            return Outcome(True, since, observation)
        if observation.seconds >= limits.timeout:
            return Outcome(False, None, observation)
        clock.sleep(min(PAUSE, limits.quiet / LOOKS, max(limits.timeout - observation.seconds, SHORTEST_PAUSE)))


class Device:
    """The work of the database's device since the last look: at most `most_busy` percent, `most_written` bytes/s.

    Without a device (tmpfs) there are no readings, nor of a server that ran before, whose data are somewhere unknown.
    """

    def __init__(self, data: Path | None, declared: str | None, most_busy: float, most_written: float) -> None:
        self.name = disk.device(data or Path("/"), declared) if data or declared else None
        self._members = disk.members(self.name) if self.name else []
        self._most_busy, self._most_written = most_busy, most_written
        self._last = self._read()

    def readings(self) -> Sequence[IdleReading]:
        before, now = self._last, self._read()
        seconds = now[0] - before[0]
        if seconds < SHORTEST_RATE:
            return ()
        self._last = now
        if self.name is None or self.name not in before[1]:
            return ()
        busy = max(_rate(before[1], now[1], name, "busy_ms", seconds) for name in before[1]) / 10
        written = _rate(before[1], now[1], self.name, "write_sectors", seconds) * SECTOR
        return (
            IdleReading(BUSY, round(min(busy, 100.0), 2), self._most_busy, "%"),
            IdleReading(WRITES, round(written), self._most_written, "B/s"),
        )

    def _read(self) -> tuple[float, Mapping[str, Mapping[str, int]]]:
        """Count also the members of a RAID: older kernels have no busy time of the RAID itself."""
        return time.monotonic(), counters.host(self.name, self._members).get("devices", {})


def _rate(
    before: Mapping[str, Mapping[str, int]], now: Mapping[str, Mapping[str, int]], name: str, key: str, seconds: float
) -> float:
    return (now.get(name, {}).get(key, 0) - before[name].get(key, 0)) / seconds


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
