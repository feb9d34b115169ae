"""stepgrid watch SPEC: the status, live; drawn over itself at a terminal, a line for each change elsewhere."""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, TextIO

from stepgrid.cli.spec_arguments import add_spec, explain_words
from stepgrid.cli.status import (
    SHOWN_NODES,
    Paint,
    clock,
    counts_text,
    failure_text,
    header_lines,
    is_terminal,
    node_title,
    status_lines,
    status_reader,
    step_title,
    stored_plan,
    text_width,
    work_lines,
    work_status,
)
from stepgrid.collect.samples import NAME as SAMPLES
from stepgrid.collect.samples import RATES, growth, rates, rows
from stepgrid.errors import FAILED, FINE
from stepgrid.host import files
from stepgrid.host.terminal_output import raw, visible
from stepgrid.model.plan import Plan
from stepgrid.model.status import NodeStatus, PlanStatus, Status, Step
from stepgrid.model.units import duration, percent, short_rate, size
from stepgrid.run.progress import read_throughput
from stepgrid.store.status import StatusReader
from stepgrid.summarize.formats.text import cut

INTERRUPTED = 130  # exit status after Ctrl-C
PERIOD = 1.0  # seconds between two views
READING_SHARE = 300  # between two readings lies at least so many times the time that one took
ENDED_STAGES, NARROWEST, WIDEST = 5, 20, 120  # stages that are listed, columns
NO_PAINT = Paint()


def add_watch_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec(parser)
    explain_words(parser, status=Status)


def run_watch(args: argparse.Namespace) -> int:
    plan: Plan | None = stored_plan(args)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    status = None
    try:
        while plan is not None:
            status = _watch_plan(plan)
            following = stored_plan(args) if plan.adds_loads else plan
            plan = None if following.digest == plan.digest else following
    except KeyboardInterrupt:
        return INTERRUPTED
    return FAILED if status and status.has_failed else FINE


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _watch_plan(plan: Plan) -> PlanStatus:
    view = _Screen() if is_terminal(sys.stdout) else _Log()
    status = follow(status_reader(plan), view.show)
    view.end()
    print("the run has ended\n" if view.was_active else "nothing is left to do\n")
    print("\n".join(status_lines(status, SHOWN_NODES, text_width(), Paint.for_stream(sys.stdout))), flush=True)
    return status


def follow(reader: StatusReader, show: Callable[[PlanStatus], None], period: float = PERIOD) -> PlanStatus:
    """Show the status until a run has ended or nothing is left to wait for, so seldom that no measurement notices."""
    was_active, due, status = False, 0.0, reader.read()
    while True:
        if time.monotonic() >= due:
            began = time.thread_time()
            status = reader.read()
            due = time.monotonic() + READING_SHARE * (time.thread_time() - began)
        status = replace(status, now=time.time())
        if not status.is_active and (was_active or status.is_complete) and not reader.read().is_active:
            return reader.read()
        was_active = was_active or status.is_active
        show(status)
        time.sleep(period)


class _Log:
    """A view that prints changes."""

    def __init__(self) -> None:
        self.was_active = False
        self._before: PlanStatus | None = None

    def show(self, status: PlanStatus) -> None:
        self.was_active = self.was_active or status.is_active
        for line in change_lines(self._before, status):
            print(line, flush=True)
        self._before = status

    def end(self) -> None:
        print()


def change_lines(before: PlanStatus | None, after: PlanStatus) -> Iterator[str]:
    if before is None:
        yield from header_lines(after, 10_000, NO_PAINT)
    keys = {node.id: _change_key(node) for node in before.nodes.values()} if before else {}
    for node in after.nodes.values():
        if keys.get(node.id) != _change_key(node) and (before is not None or node.work is not None):
            progress = counts_text(after, "stage", NO_PAINT).partition(",")[0]
            yield f"{clock(after.now, after.now)} [{progress}] {_change_text(node, after.now)}"


def _change_key(node: NodeStatus) -> tuple[object, ...]:
    work = node.work
    step = work.step.folder if work and work.step else None
    return node.status, step, work.waits if work else "", work.replays if work else ""


def _change_text(node: NodeStatus, now: float) -> str:
    work, title = node.work, node_title(node)
    if work is not None:
        text = f"{work_status(work)}: {title}"
        if work.waits:
            return f"{text}: for {work.waits}"
        if work.replays:
            text += f": runs again first: {work.replays}"
        return f"{text}: {step_title(work.step)} begins" if work.step else text
    if node.status is Status.DONE:
        return f"done: {title}{node.time_taken}"
    reason = failure_text(node.end, now) if node.end and node.log else node.because
    return f"{node.status}: {title}{f': {reason}' if reason else ''}"


class _Screen:
    """A view that is drawn over itself."""

    def __init__(self) -> None:
        self.was_active = False
        self._block = Block(sys.stdout)
        blocks = BLOCKS if "utf" in (sys.stdout.encoding or "").lower() else PLAIN_BLOCKS
        self._page = Page(Paint.for_stream(sys.stdout), blocks)

    def show(self, status: PlanStatus) -> None:
        self.was_active = self.was_active or status.is_active
        columns, rows = self._block.size()
        self._block.draw(self._page.lines(status, min(columns - 1, WIDEST), rows - 1))

    def end(self) -> None:
        self._block.clear()


_STYLE = re.compile(r"\x1b\[\d+m")


class Block:
    """Lines that are drawn over themselves. The terminal's mode is not changed, so nothing is to be restored."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn: Sequence[str] = ()

    def size(self) -> tuple[int, int]:
        """Return the present number of columns and lines."""
        try:
            terminal = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            return 80, 24
        return terminal.columns or 80, terminal.lines or 24

    def draw(self, lines: Sequence[str]) -> None:
        """Write each line over the one before, all in one write: nothing is blank in between."""
        body = "".join(f"{visible(line)}\x1b[K\n" for line in lines)
        self._write(f"{self._to_first_line()}{body}\x1b[J")
        self._drawn = lines

    def clear(self) -> None:
        self._write(f"{self._to_first_line()}\x1b[J")
        self._drawn = ()

    def _to_first_line(self) -> str:
        """Move the cursor up; a terminal that became narrower has broken long lines."""
        columns, rows = self.size()
        height = sum(max(1, -(-len(_STYLE.sub("", line)) // columns)) for line in self._drawn)
        up = min(height, rows - 1)
        return f"\r\x1b[{up}A" if up else "\r"

    def _write(self, text: str) -> None:
        raw(self._stream).write(text)
        self._stream.flush()


BLOCKS, PLAIN_BLOCKS = "▁▂▃▄▅▆▇█", "_.-:=+*#"


class Spark(NamedTuple):
    """A series as one line of blocks, from zero to its largest value; `used` of its values are shown."""

    text: str
    least: float
    most: float
    used: int


def sparkline(values: Sequence[float], width: int, blocks: str = BLOCKS) -> Spark | None:
    """Draw the newest value at the right; a column is the mean of equally many values."""
    count = max(1, -(-len(values) // max(width, 1)))
    used = len(values) - len(values) % count if len(values) > count else len(values)
    newest = values[len(values) - used :]
    if not newest or width < 1:
        return None
    means = [sum(newest[at : at + count]) / len(newest[at : at + count]) for at in range(0, used, count)]
    text = "".join(_block_of(mean, max(means), blocks) for mean in means)
    return Spark(text, min(newest), max(newest), used)


def _block_of(value: float, most: float, blocks: str) -> str:
    if most <= 0 or value <= 0:
        return blocks[0] if most <= 0 else " "
    return blocks[min(int(value / most * len(blocks)), len(blocks) - 1)]


SHOWN_RATES = (
    "device_read_mb_per_s",
    "device_write_mb_per_s",
    "host_cpu_user_pct",
    "host_cpu_system_pct",
    "host_cpu_iowait_pct",
)
FIRST_BYTES = 1 << 14  # of the end of a file, which are read at first


class HostLoad:
    """The load of the host by the running step, from its newest two samples."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._tail = Tail(Path())
        self._newest: deque[Mapping[str, Any]] = deque(maxlen=2)

    def rates(self, folder: Path) -> dict[str, float]:
        """Return rates over the newest second, as far as they are known; another step begins anew."""
        if folder != self._folder:
            self._folder, self._tail = folder, Tail(folder / SAMPLES)
            self._newest.clear()
        self._newest.extend(files.json_records(self._tail.lines()[-2:], "monotonic"))
        if len(self._newest) < 2 or self._newest[1]["monotonic"] <= self._newest[0]["monotonic"]:
            return {}
        values = dict(zip(RATES, rates(growth(*rows(self._newest))), strict=True))
        return {name: values[name] for name in SHOWN_RATES if not math.isnan(values[name])}


class Tail:
    """The last lines of a growing file at first, and then its new lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._position = -1  # nothing was read yet
        self._half = b""

    def lines(self) -> list[str]:
        """Return complete lines; one that is being written is returned when it is complete."""
        try:
            with self.path.open("rb") as file:
                end, is_first_cut = file.seek(0, os.SEEK_END), False
                if not 0 <= self._position <= end:  # the first time, and after the file was written anew
                    self._half, self._position = b"", max(end - FIRST_BYTES, 0)
                    is_first_cut = self._position > 0
                file.seek(self._position)
                content = file.read()
        except OSError:
            return []
        self._position += len(content)
        *lines, self._half = (self._half + content).split(b"\n")
        return [line.decode("utf-8", "replace") for line in (lines[1:] if is_first_cut else lines)]


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of the screen: how far the plan is, what runs and how fast, what ended last."""

    paint: Paint = field(default_factory=Paint)
    blocks: str = BLOCKS
    load: HostLoad = field(default_factory=HostLoad)

    def lines(self, status: PlanStatus, width: int, height: int) -> list[str]:
        """Return as many lines as fit; what runs stands above what ended."""
        return list(self._all_lines(status, max(width, NARROWEST)))[: max(height, 1)]

    def _all_lines(self, status: PlanStatus, width: int) -> Iterator[str]:
        yield from header_lines(status, width, self.paint)
        for node in status.at_work:
            yield ""
            yield from work_lines(node, status.now, width, self.paint)
            if node.work and node.work.step:
                yield from self._step_lines(node.work.step, width, status.now)
        if not status.is_active:
            yield ""
            yield cut("no run is active: waits for one (Ctrl-C leaves)", width)
        ended = sorted((when, node.id) for node in status.nodes.values() if (when := _end_time(node)) is not None)
        if ended:
            yield ""
            yield "ended last:"
        for when, name in reversed(ended[-ENDED_STAGES:]):
            node = status.nodes[name]
            line = f"  {clock(when, status.now)}  {node.status}{node.time_taken}  {node.title}"
            yield self.paint(cut(line, width), "red" if node.end else None)

    def _step_lines(self, step: Step, width: int, now: float) -> Iterator[str]:
        if step.declared:
            share, columns = max(now - step.since, 0.0) / step.declared, width - 4
            full = round(min(share, 1.0) * columns)
            yield f"  [{'#' * full}{'.' * (columns - full)}]"
        series = read_throughput(step.kind, step.folder) if step.kind else ()
        spark = sparkline([value for _, value in series], width - 2, self.blocks)
        if spark is not None:
            began = series[-spark.used - 1][0] if spark.used < len(series) else 0.0
            extremes = f"least {short_rate(spark.least)}, most {short_rate(spark.most)}"
            yield f"  {self.paint(spark.text, 'green')}"
            span = duration(series[-1][0] - began)
            yield cut(f"  ops/s   now {short_rate(series[-1][1])}, {extremes} in {span}", width)
        for line in _usage_lines(self.load.rates(step.folder)):
            yield cut(f"  {line}", width)


def _end_time(node: NodeStatus) -> float | None:
    if node.result:
        return node.result.ended
    return node.end.when if node.end and node.status in (Status.FAILED, Status.INTERRUPTED) else None


def _usage_lines(load: Mapping[str, float]) -> Iterator[str]:
    """Show the use of the device and of all processors, as far as it is known."""
    read, write = load.get("device_read_mb_per_s"), load.get("device_write_mb_per_s")
    if read is not None and write is not None:
        yield f"device  reads {size(read * 2**20)}/s, writes {size(write * 2**20)}/s"
    user, system = load.get("host_cpu_user_pct"), load.get("host_cpu_system_pct")
    waits = load.get("host_cpu_iowait_pct")
    if user is not None and system is not None:
        waiting = "" if waits is None else f", {percent(waits / 100)} waiting for disks"
        yield f"cpu     {percent((user + system) / 100)}{waiting}"
