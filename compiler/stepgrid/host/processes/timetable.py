"""Programs beside another one: started by a timetable while that runs, and ended with it.

Each has a thread, which starts its rounds and waits for them: the kernel kills a program with the thread that did."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Condition, Thread

from msgspec import Struct

from stepgrid.host.failure import StageError
from stepgrid.host.processes import supervision
from stepgrid.host.processes.supervision import Watch
from stepgrid.model.units import duration

TO_END = 120.0  # seconds that killed programs have to be gone


class Entry(Struct, frozen=True):
    """When a program runs. `run` runs one round of it to its end; it takes the round's number, from 1, and watches of
    the program's start and end, which get its pid."""

    number: int
    name: str
    run: Callable[[int, Watch, Watch], None]
    at: float = 0.0  # seconds after the start, or after the end of `after`
    period: float | None = None  # seconds from the start of a round to that of the next
    after: int = 0  # the number of another entry; of one that there is not: the start
    stops: bool = False  # the end of the main program stops it


class Timetable:
    """Threads of entries. `error`: of the first that failed, by which the main program is stopped, too."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self.entries, self.error = entries, None
        self.stopped: set[int] = set()  # numbers of entries that were stopped because the main program had ended
        self._main: int | None = None  # as long as it runs
        self._over = self._closed = False
        self._done: set[int] = set()
        self._pids: dict[int, int] = {}  # of entries whose program runs now
        self._change = Condition()
        self._threads: list[Thread] = []

    error: BaseException | None

    def start(self, pid: int) -> None:
        """Begin, with the main program that has this process."""
        self._main = pid
        self._threads = [Thread(target=self._serve, args=(entry,), daemon=True) for entry in self.entries]
        for thread in self._threads:
            thread.start()

    def end_main(self, _pid: int) -> None:
        """Note that the main program has ended, while its process can still be looked at: nothing more is started."""
        with self._change:
            self._main, self._over = None, True
            self._change.notify_all()

    def finish(self) -> None:
        """Wait for what runs, and stop what is to end with the main program, also if it begins only now."""
        while (pid := self._next_to_stop()) is not None:
            with suppress(ProcessLookupError):
                supervision.stop(pid)
        for thread in self._threads:
            thread.join()

    def _next_to_stop(self) -> int | None:
        """Wait for a program that is to be stopped; None where all are done."""

        def first() -> Entry | None:
            running = (entry for entry in self.entries if entry.number in self._pids.keys() - self.stopped)
            return next((entry for entry in running if entry.stops or self.error), None)

        with self._change:
            self._change.wait_for(lambda: first() or len(self._done) == len(self._threads))
            if entry := first():
                self.stopped.add(entry.number)
            return self._pids[entry.number] if entry else None

    @property
    def failure(self) -> StageError | None:
        """Say why one failed; an error of the system is raised as it is."""
        if isinstance(self.error, OSError):
            raise self.error
        if self.error is None or isinstance(self.error, StageError):
            return self.error
        return StageError(f"a fault of stepgrid itself ({type(self.error).__name__}: {self.error}); please report it")

    def close(self) -> None:
        """Kill what still runs."""
        with self._change:
            self._main, self._over, self._closed = None, True, True
            for pid in self._pids.values():
                supervision.kill(pid)
            self._change.notify_all()
        until = time.monotonic() + TO_END
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _serve(self, entry: Entry) -> None:
        try:
            self._run_rounds(entry)
        except BaseException as error:
            with self._change:
                self.error = self.error or error
                main = self._main
            if main is not None:
                with suppress(ProcessLookupError):  # it may end just now
                    supervision.stop(main)
        finally:
            with self._change:
                self._done.add(entry.number)
                self._change.notify_all()

    def _run_rounds(self, entry: Entry) -> None:
        if entry.after in {other.number for other in self.entries}:
            self._wait(lambda: entry.after in self._done)
        due, number = time.monotonic() + entry.at, 1
        while self._wait_until(due):
            entry.run(number, lambda pid: self._note_start(entry, pid), lambda _pid: self._note_end(entry))
            if entry.period is None or self._over:
                return
            due, number = max(due + entry.period, time.monotonic()), number + 1
        if number == 1 and not (self.error or self._closed):
            when = f"{duration(entry.at)} after {'another one' if entry.after else 'its start'}"
            raise StageError(f"it never began: the step that it runs beside ended before, and not {when}", entry.name)

    def _wait(self, condition: Callable[[], bool]) -> None:
        with self._change:
            self._change.wait_for(lambda: self._over or condition())

    def _wait_until(self, due: float) -> bool:
        """Wait for a time; tell whether the main program still runs then."""
        with self._change:
            return not self._change.wait_for(lambda: self._over, max(0.0, due - time.monotonic()))

    def _note_start(self, entry: Entry, pid: int) -> None:
        with self._change:
            self._pids[entry.number] = pid
            if self._closed:
                supervision.kill(pid)
            self._change.notify_all()

    def _note_end(self, entry: Entry) -> None:
        with self._change:
            self._pids.pop(entry.number, None)
