"""Progress of a plan as its jobs show it, and the time when a run is to stop (`--until`)."""

from __future__ import annotations

import os
import re
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from stepgrid.host.terminal_output import raw, visible
from stepgrid.model.plan import PlannedStage, PlannedStep
from stepgrid.model.status import PlanStatus, Step
from stepgrid.model.units import UnitError, quantity
from stepgrid.plan.actions import replays
from stepgrid.plan.plan_file import outline
from stepgrid.run.status_lines import end_line, head, is_terminal, step_text
from stepgrid.store.active_run import note_skipped_stage
from stepgrid.store.images import ImageVerifier
from stepgrid.store.status import StatusReader, job_reader
from stepgrid.store.store import Store

INTERVAL = {True: 1.0, False: 30.0}  # seconds between two lines: at a terminal, elsewhere
FRESH = 1.0  # seconds: a status is shown again where the stage had to wait no longer


@dataclass(slots=True)
class _Current:
    """The one stage that this process runs."""

    reader: StatusReader
    status: PlanStatus
    stage: PlannedStage
    read_at: float  # by time.monotonic

    def head(self) -> str:
        return head(self.status, time.monotonic() - self.read_at)


_current: _Current | None = None


def show_start(store: Store, plan: str, stage: PlannedStage) -> None:
    """Say how far the plan is: the stage is next, and may wait for the host."""
    global _current
    reader = job_reader(store, plan, stage.id)
    _current = _Current(reader, reader.read(), stage, time.monotonic())
    if not is_terminal(sys.stderr):
        write_line(f"{_current.head()} | {stage.title}")


def refresh() -> None:
    """Read the status anew after a wait for the host, to show the present while steps run."""
    if _current and time.monotonic() - _current.read_at > FRESH:
        _current.status, _current.read_at = _current.reader.read(), time.monotonic()


@contextmanager
def show_step(stage: PlannedStage, index: int, folder: Path) -> Iterator[None]:
    """Show a status line around one step: rewritten at a terminal, one now and then in a log."""
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(stage, index, folder, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join(timeout=1.0)
        if is_terminal(sys.stderr):
            _write("\r\x1b[K")


def show_end(store: Store, plan: str, stage: PlannedStage, status: str) -> None:
    """Say that the stage is over: done, unsupported, failed or interrupted."""
    global _current
    reader, _current = _current.reader if _current else job_reader(store, plan), None
    reader.own_stage = ""
    plan_status = reader.read()
    write_line(end_line(plan_status, plan_status.nodes[stage.id], status))


def _watch(stage: PlannedStage, index: int, folder: Path, over: threading.Event) -> None:
    start, at_terminal = time.monotonic(), is_terminal(sys.stderr)
    planned = stage.steps[index]
    step = Step(planned.name, planned.kind, index, len(stage.steps), declared_seconds(planned), start, folder)
    if at_terminal:
        _show_step(stage, step)
    while not over.wait(INTERVAL[at_terminal]):
        _show_step(stage, step)


def _show_step(stage: PlannedStage, step: Step) -> None:
    title = (_current.stage if _current else stage).title.rsplit(": ", 1)[0]
    start = f"{_current.head()} | " if _current else ""
    text = f"{start}{title}: {step.name} {step_text(step, time.monotonic())}"
    if is_terminal(sys.stderr):
        _write(f"\r{visible(text)[: _width() - 1]}\x1b[K")
    else:
        write_line(text)


def declared_seconds(step: PlannedStep) -> float | None:
    """Read how long the step says that it takes."""
    seconds = step.settings.get("duration")
    return float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def write_line(text: str) -> None:
    """Write a line of its own, folded at a terminal, which would break it in the middle of a word."""
    if not is_terminal(sys.stderr):
        _write(f"{visible(text)}\n")
        return
    lines = textwrap.wrap(text, max(_width() - 1, 20), subsequent_indent="  ", break_on_hyphens=False)
    _write(f"\r\x1b[K{visible(chr(10).join(lines))}\n")


def _write(text: str) -> None:
    try:
        raw(sys.stderr).write(text)
        sys.stderr.flush()
    except OSError:  # a terminal that went away is no reason to lose a measurement
        pass


# The time when a run is to stop, `--until 6h` or `--until 07:30`, as its jobs find it in their environment

VARIABLE = "STEPGRID_UNTIL"  # "<unix time> <text of the request>"
EXPECTED = "a duration such as 6h, 90m or 1h30m, or a time of day such as 07:30"
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII)
_PART = r"\d+(?:\.\d+)?\s*[a-z]+"


class DeadlineError(Exception):
    """A stage has waited until it was too late to start."""


@dataclass(frozen=True, slots=True)
class RunEndTime:
    at: float  # unix time
    text: str  # of the request


def parse_end_time(text: str, now: float) -> RunEndTime | None:
    """Parse a duration or a time of day, which is the next one; None for anything else."""
    request = text.strip()
    if clock := _CLOCK.fullmatch(request):
        today = datetime.fromtimestamp(now).replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
        end = today if today.timestamp() > now else today + timedelta(days=1)
        return RunEndTime(end.timestamp(), request)
    if not re.fullmatch(f"(?:{_PART})+", request, re.ASCII):
        return None
    try:
        seconds = float(sum(quantity(part, "duration") for part in re.findall(_PART, request, re.ASCII)))
    except UnitError:
        return None
    return RunEndTime(now + seconds, request) if seconds else None


def set_end_time(until: object) -> None:
    """Set it for every job that this process starts; ValueError says what was expected.

    When it is requested twice in one process, or again by a job of a cluster, the first time counts.
    """
    if until is None:
        os.environ.pop(VARIABLE, None)
        return
    end, current = parse_end_time(str(until), time.time()), end_time()
    if end is None:
        raise ValueError(f"until={until}: expected {EXPECTED}")
    if current is None or current.text != end.text:
        os.environ[VARIABLE] = f"{end.at} {end.text}"


def end_time() -> RunEndTime | None:
    at, _, text = os.environ.get(VARIABLE, "").partition(" ")
    try:
        return RunEndTime(float(at), text)
    except ValueError:
        return None


def skip_if_late(store: Store, plan: str, stage: PlannedStage) -> bool:
    """Note a stage that would end too late. One of unknown length is started as long as there is time at all."""
    until = end_time()
    if until is None:
        return False
    seconds = _expected_seconds(store, plan, stage.id)
    if time.time() + (seconds or 0.0) <= until.at:
        return False
    note_skipped_stage(store, stage.id, seconds)
    return True


def refuse_late(store: Store, plan: str, stage: PlannedStage) -> None:
    """Raise DeadlineError if it has become too late during a wait for the host."""
    if skip_if_late(store, plan, stage):
        raise DeadlineError("when the host was free it was too late to start before the run is to stop")


def _expected_seconds(store: Store, plan: str, stage: str) -> float | None:
    """Estimate the stage, with those that are run again first."""
    plan_outline = outline(store.plan(plan))
    nodes = StatusReader(store, plan_outline).read().nodes
    parents = {node.id: node.parent for node in plan_outline.stages}
    again = replays(stage, parents, lambda node: nodes[node].result is not None, ImageVerifier(store).damage)
    parts = [nodes[node].seconds for node in (stage, *(node for node, _ in again))]
    return None if None in parts else sum(part or 0.0 for part in parts)
