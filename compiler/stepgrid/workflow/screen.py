"""The screen of a run, which `watch` shows too: a frame that is drawn over itself at a terminal, lines in a log.

During a run the terminal belongs to the frame: output of jobs and Snakemake goes through a pipe and above it."""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType
from typing import Protocol

from stepgrid.host import cluster_job
from stepgrid.host.locks import ANNOUNCED
from stepgrid.host.terminal_output import FullStream, Paint, TextBlock, fold, is_terminal
from stepgrid.model.plan import Plan
from stepgrid.model.records import replace
from stepgrid.model.status import NodeStatus, PlanStatus, Status
from stepgrid.run.status_lines import (
    BLOCKS,
    PLAIN_BLOCKS,
    STATUS_STYLES,
    Disturbances,
    Frame,
    node_title,
    progress_line,
    queue_text,
)
from stepgrid.store.attempts import read_failure
from stepgrid.store.status import StatusReader, job_reader
from stepgrid.store.store import Store

PERIOD = 1.0  # seconds between two views
CLUSTER_PERIOD = 5.0  # seconds: a shared folder is asked less often
SHARE = 300  # a reading, or a view, is followed by so many times the CPU time that it took: no measurement notices
WIDEST = 120  # columns of a frame
TENTHS, LEAST_PAUSE = 10, 10.0  # a log has a line for each, but none so many seconds after another
PAUSE, LONG_PAUSE, EARLY = 30.0, 300.0, 600.0  # seconds between two lines of a log: in the first ten minutes, and later
_ENDED = (Status.DONE, Status.UNSUPPORTED, Status.FAILED, Status.INTERRUPTED)


class Lookout:
    """A status that is read from the store seldom enough for no measurement to notice."""

    def __init__(self, reader: StatusReader, plan: Plan | None = None) -> None:
        """`plan`: for a reader that goes by a header, which knows less."""
        self._reader, self._plan = reader, plan
        self._due, self._status = 0.0, reader.read()

    def read(self, is_due: bool = False) -> PlanStatus:
        """Return the newest reading, with the present time."""
        if is_due or time.monotonic() >= self._due:
            began = time.thread_time()
            self._status = self._reader.read()
            self._due = time.monotonic() + SHARE * (time.thread_time() - began)
        return replace(self._status, plan=self._plan or self._status.plan, now=time.time())


class ScreenView(Protocol):
    def show(self, status: PlanStatus) -> None: ...

    def write(self, text: str) -> None:
        """Write whole lines of somebody else."""

    def end(self) -> None: ...


class TerminalView:
    """A frame at the end of a terminal, and messages that scroll away above it."""

    def __init__(self, descriptor: int, encoding: str, paint: Paint) -> None:
        self._descriptor, self._paint = descriptor, paint
        self._block, self._lines, self._is_failure = TextBlock(descriptor), list[str](), False
        self._frame = Frame(paint, BLOCKS if "utf" in encoding.lower() else PLAIN_BLOCKS)
        self._lock, self._is_stopped = threading.RLock(), False
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGTSTP, self._stop)
            signal.signal(signal.SIGCONT, lambda *_: self._block.forget())  # after SIGSTOP, which nobody hears

    def show(self, status: PlanStatus) -> None:
        columns, rows = self._block.size()
        self._lines = self._frame.lines(status, min(columns - 1, WIDEST), rows - 1)
        with self._lock:
            if self._is_in_front():
                self._block.draw(self._lines)

    def write(self, text: str) -> None:
        lines = fold(text, self._block.size()[0] - 1)
        for index, line in enumerate(lines):
            self._is_failure = line.startswith("failed: ") or (self._is_failure and line.startswith(" "))
            lines[index] = self._paint(line, STATUS_STYLES[Status.FAILED]) if self._is_failure else line
        with self._lock:
            self._block.draw(self._lines if self._is_in_front() else [], "\n".join(lines))

    def end(self) -> None:
        self._lines = []
        with self._lock:
            self._block.clear()

    def _stop(self, number: int, _: FrameType | None) -> None:
        """Remove the frame and stop, on Ctrl-Z: `fg` draws it below what the shell has written since."""
        with self._lock:
            self._is_stopped = True
            self._block.clear()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.signal(number, self._stop)
        self._is_stopped = False

    def _is_in_front(self) -> bool:
        """Tell whether a shell has this command in the foreground: else the terminal is somebody else's."""
        if self._is_stopped:
            return False
        try:
            return os.tcgetpgrp(self._descriptor) == os.getpgrp()
        except OSError:  # not the terminal of this session
            return True


class LogView:
    """Lines: one for each tenth of the stages and now and then, a failure, a build; a warning once, then its count."""

    def __init__(self, print_line: Callable[[str], None], store: Store | None) -> None:
        """`store`: has the failures; None where jobs print their builds and failures into the same log."""
        self._print, self._store = print_line, store
        self._began, self._last, self._tenth = time.monotonic(), float("-inf"), 0
        self._before: Mapping[str, NodeStatus] | None = None
        self._warned = {"noise": False, "wait": False}
        self._disturbances, self._line, self._printed = Disturbances(), "", ""

    def show(self, status: PlanStatus) -> None:
        if self._store is not None:
            self._print_ends(self._store, status)
        disturbed = self._disturbances.read(status)
        ahead = status.run.ahead if status.run else ()
        waits = [f"waiting for {queue_text(ahead, status.now)}"] if ahead else []
        at_work = [(node_title(node), node.work) for node in status.at_work]
        waits += [f"{title} waits for {work.waits}" for title, work in at_work if work and work.waits]
        if disturbed and self._is_first("noise"):
            title, warning = disturbed[0]
            self._print(f"the host was not quiet before {title}; later stages are only counted\n  {warning}")
        if status.wait_began is not None and self._is_first("wait"):
            self._print(waits[0])
        counts = Counter(node.status for node in status.stages)
        tenth = TENTHS * counts[Status.DONE] // max(counts.total() - counts[Status.ELSEWHERE], 1)
        under_way = {node.title for node in status.at_work}
        ended = [title for title, _ in disturbed if title not in under_way]
        self._line, now = progress_line(status, len(ended)), time.monotonic()
        pause = LEAST_PAUSE if self._tenth < tenth else PAUSE if now - self._began < EARLY else LONG_PAUSE
        if now - self._last >= pause:
            self._tenth, self._last = tenth, now
            self._print_line()

    def write(self, text: str) -> None:
        self._print(text)

    def end(self) -> None:
        if self._line != self._printed:
            self._print_line()

    def _print_line(self) -> None:
        self._print(self._line)
        self._printed = self._line

    def _is_first(self, warning: str) -> bool:
        was_printed, self._warned[warning] = self._warned[warning], True
        return not was_printed

    def _print_ends(self, store: Store, status: PlanStatus) -> None:
        """Print each build that was made, and each failure."""
        before, self._before = self._before, status.nodes
        for node in status.nodes.values() if before is not None else ():
            if before is None or node.status is before[node.id].status or node.status not in _ENDED:
                continue
            attempts = store.attempts(node.id)[-1:] if node.status is Status.FAILED else []
            if attempts and (failure := read_failure(attempts[0])):
                self._print(failure.block(node.title))
            elif node.is_build or node.status is not Status.DONE:
                reason = f": {node.reason}" if node.reason else ""
                self._print(f"{node.status}: {'build ' if node.is_build else ''}{node.title}{reason}")


# The screen of a run

FORGOTTEN = (
    "all stages have ended, and the cluster has not reported the end of every job: a controller that was killed "
    "forgets the newest. Stop with Ctrl-C; the same command goes on"
)
FORGOTTEN_SECONDS = 400.0  # more than the executor for SLURM waits between two looks, and a summary takes
LINE_SECONDS, MOST_BYTES = 0.05, 1 << 16  # of output: how long the end of a line may take, what is read at once
PATIENCE = 5.0  # seconds for the last view
_WAKE = b"\0"


class RunScreen:
    """The view of the run that this process is, in a thread beside Snakemake's scheduler."""

    def __init__(self, store: Store, plan: Plan) -> None:
        self._store, self._plan = store, plan
        self._thread: threading.Thread | None = None
        self._lookout: Lookout | None = None
        self._is_over, self._has_failed = threading.Event(), False
        self._idle_since: float | None = None  # when the last stage of a cluster's run ended
        self._saved: dict[int, int] = {}  # a stream of this process -> a copy of where it leads

    def start(self) -> None:
        """Begin to show the run; at a terminal, standard output and error lead through a pipe meanwhile."""
        self._source, self._sink = os.pipe()
        if is_terminal(sys.stderr):
            self._saved = {number: os.dup(number) for number in (1, 2) if os.isatty(number)}
            paint, encoding = Paint.for_stream(sys.stderr), sys.stderr.encoding or ""
            self._view: ScreenView = TerminalView(self._saved[2], encoding, paint)
            for number in self._saved:
                os.dup2(self._sink, number)
        else:
            self._view = LogView(_print_line, self._store if cluster_job.active() else None)
        os.environ[ANNOUNCED] = "1"  # jobs leave it to this screen to name whom they wait for
        self._thread = threading.Thread(target=self._show_until_over, daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        """Show the end, and give the terminal back."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        for number, copy in self._saved.items():
            os.dup2(copy, number)
        self._is_over.set()
        os.write(self._sink, _WAKE)
        thread.join(timeout=PATIENCE)
        if not thread.is_alive():
            for descriptor in (self._source, self._sink, *self._saved.values()):
                os.close(descriptor)
        os.environ.pop(ANNOUNCED, None)

    def _show_until_over(self) -> None:
        period = CLUSTER_PERIOD if cluster_job.active() else PERIOD
        while not self._is_over.is_set():
            began = time.thread_time()
            self._show()
            self._relay(time.monotonic() + max(period, SHARE * (time.thread_time() - began)))
        self._relay(0.0)
        self._show(is_last=True)
        self._view.end()

    def _show(self, is_last: bool = False) -> None:
        """Read and show the status; a fault must not end the thread: jobs need a reader of their output."""
        try:
            self._lookout = self._lookout or Lookout(job_reader(self._store, self._plan.digest), self._plan)
            status = self._lookout.read(is_due=is_last)
            self._view.show(status)
            if cluster_job.active():
                self._warn_forgotten(status)
        except OSError:  # a store that cannot be read now
            pass
        except Exception as error:
            if not self._has_failed:
                self._view.write(f"the progress of this run cannot be shown: {type(error).__name__}: {error}")
            self._has_failed = True

    def _relay(self, until: float) -> None:
        """Write the lines that come through the pipe, until then or until the run is over."""
        partial = b""
        while not self._is_over.is_set() and (partial or time.monotonic() < until):
            timeout = LINE_SECONDS if partial else max(until - time.monotonic(), 0.0)
            is_ready = select.select([self._source], [], [], timeout)[0]
            partial += os.read(self._source, MOST_BYTES) if is_ready else b""
            lines, _, partial = partial.rpartition(b"\n") if is_ready else (partial, b"", b"")
            self._write(lines)
        while self._is_over.is_set() and select.select([self._source], [], [], 0.0)[0]:
            partial += os.read(self._source, MOST_BYTES)
        self._write(partial.removesuffix(b"\n"))

    def _write(self, lines: bytes) -> None:
        if text := lines.replace(_WAKE, b"").decode("utf-8", "replace"):
            self._view.write(text)

    def _warn_forgotten(self, status: PlanStatus) -> None:
        """Warn once that the run waits for jobs which the cluster has forgotten."""
        if any(node.status not in (*_ENDED, Status.ELSEWHERE, Status.BLOCKED) for node in status.nodes.values()):
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = time.monotonic()
        elif time.monotonic() - self._idle_since > FORGOTTEN_SECONDS:
            self._idle_since = float("inf")
            self._view.write(FORGOTTEN)


def _print_line(text: str) -> None:
    with suppress(OSError, FullStream):  # nobody who reads is no reason to stop
        print(text, file=sys.stderr, flush=True)
