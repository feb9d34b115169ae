"""stepgrid watch SPEC: the status, live; drawn over itself at a terminal, a line for each change elsewhere."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FrameType
from typing import TextIO

from stepgrid.cli.spec_arguments import add_spec, explain_words
from stepgrid.cli.status import status_reader, stored_plan, text_width
from stepgrid.errors import FAILED, FINE
from stepgrid.host.terminal_output import raw, visible
from stepgrid.model.plan import Plan
from stepgrid.model.status import PlanStatus, Status
from stepgrid.run.status_lines import (
    BLOCKS,
    PLAIN_BLOCKS,
    SHOWN_NODES,
    Frame,
    Paint,
    change_lines,
    is_terminal,
    page_lines,
)
from stepgrid.store.status import StatusReader

INTERRUPTED = 130  # exit status after Ctrl-C
PERIOD = 1.0  # seconds between two views
READING_SHARE = 300  # between two readings lies at least so many times the time that one took
WIDEST = 120  # columns


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
    print("\n".join(page_lines(status, SHOWN_NODES, text_width(), Paint.for_stream(sys.stdout))), flush=True)
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


class _Screen:
    """A view that is drawn over itself."""

    def __init__(self) -> None:
        self.was_active = False
        self._block = Block(sys.stdout)
        blocks = BLOCKS if "utf" in (sys.stdout.encoding or "").lower() else PLAIN_BLOCKS
        self._frame = Frame(Paint.for_stream(sys.stdout), blocks)

    def show(self, status: PlanStatus) -> None:
        self.was_active = self.was_active or status.is_active
        columns, rows = self._block.size()
        self._block.draw(self._frame.lines(status, min(columns - 1, WIDEST), rows - 1))

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
