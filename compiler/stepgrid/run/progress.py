"""What a person sees while a plan runs: done, running, left, and when it will be over."""

from __future__ import annotations

import os
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stepgrid.host.terminal_output import raw, visible
from stepgrid.model.plan import PlannedStage, PlannedStep
from stepgrid.model.status import Eta, PlanStatus, Status
from stepgrid.model.units import duration as duration  # as it is shown everywhere
from stepgrid.model.units import short_rate
from stepgrid.run.live_throughput import current, wait
from stepgrid.store.status import StatusReader, job_reader
from stepgrid.store.store import Store

EVERY = {True: 1.0, False: 30.0}  # seconds between two lines: at a terminal, elsewhere


@dataclass(slots=True)
class _Current:
    """The one stage that this process runs."""

    reader: StatusReader
    status: PlanStatus
    stage: PlannedStage
    read_at: float  # by time.monotonic


_current: _Current | None = None


def started(store: Store, plan: str, stage: PlannedStage) -> None:
    """The stage is next, and may wait for the host: says how far the plan is."""
    global _current
    reader = job_reader(store, plan, stage.id)
    _current = _Current(reader, reader.read(), stage, time.monotonic())
    if not _terminal():
        _line(f"{_head(_current)} | {stage.title}")


def begun() -> None:
    """The wait for the host is over: what is shown while steps run is of now."""
    if _current:
        _current.status, _current.read_at = _current.reader.read(), time.monotonic()


@contextmanager
def step(stage: PlannedStage, index: int, folder: Path) -> Iterator[None]:
    """Around one step of a stage: a status line that is rewritten at a terminal, one now and then in a log."""
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(stage, index, folder, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join(timeout=1.0)
        if _terminal():
            _write("\r\x1b[K")


def finished(store: Store, plan: str, stage: PlannedStage, status: str) -> None:
    """The stage is over: done, unsupported, failed or interrupted."""
    global _current
    reader, _current = _current.reader if _current else job_reader(store, plan), None
    reader.own_stage = ""
    now = reader.read()
    _line(f"{head(now)} | {stage.title}: {status}{now.nodes[stage.id].time_taken if status == 'done' else ''}")


def say(text: str) -> None:
    """A line of its own."""
    _line(text)


def head(found: PlanStatus, elapsed: float = 0.0) -> str:
    """[12/45 done] running 1, missing 32, ETA 3m10s: `elapsed` seconds after the status was read."""
    counts = {status: len(found.of(status)) for status in Status}
    done, total = counts.pop(Status.DONE), len(found.stages) - counts[Status.ELSEWHERE]
    shown = "".join(f"{status} {count}, " for status, count in counts.items() if count)
    return f"[{done}/{total} done] {shown}{_eta(found.eta, elapsed)}"


def _eta(eta: Eta, elapsed: float) -> str:
    if eta.seconds is None or 0 < eta.seconds <= elapsed:  # all that was foreseen is over, and it goes on
        return "ETA ?"
    return f"ETA {'~' if eta.is_rough else ''}{duration(max(eta.seconds - elapsed, 0.0))}"


def _watch(stage: PlannedStage, index: int, folder: Path, over: threading.Event) -> None:
    began, terminal = time.monotonic(), _terminal()
    if terminal:
        _status(stage, stage.steps[index], folder, 0.0)
    while not over.wait(EVERY[terminal]):
        _status(stage, stage.steps[index], folder, time.monotonic() - began)


def _status(stage: PlannedStage, planned: PlannedStep, folder: Path, elapsed: float) -> None:
    where = (_current.stage if _current else stage).title.rsplit(": ", 1)[0]
    before = f"{_head(_current)} | " if _current else ""
    speed = current(planned.kind, folder)
    text = f"{before}{where}: {planned.name} {_elapsed(planned, elapsed)}"
    text += "" if speed is None else f", {short_rate(speed)} ops/s"
    text += f", waits for {reason}" if (reason := wait(planned.kind, folder)) else ""
    if _terminal():
        _write(f"\r{visible(text)[: _width() - 1]}\x1b[K")
    else:
        _line(text)


def _head(current: _Current) -> str:
    return head(current.status, time.monotonic() - current.read_at)


def _elapsed(planned: PlannedStep, elapsed: float) -> str:
    declared = planned.settings.get("duration")
    if isinstance(declared, int | float) and declared > 0:
        return f"{elapsed:.0f}/{declared:.0f} s"
    return f"{elapsed:.0f} s"


def _terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _line(text: str) -> None:
    _write(f"\r\x1b[K{visible(_fitted(text))}\n" if _terminal() else f"{visible(text)}\n")


def _fitted(text: str) -> str:
    """A terminal would break a long line in the middle of a word."""
    lines = textwrap.wrap(text, max(_width() - 1, 20), subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines)


def _write(text: str) -> None:
    try:
        raw(sys.stderr).write(text)
        sys.stderr.flush()
    except OSError:  # a terminal that went away is no reason to lose a measurement
        pass
