"""stepgrid watch SPEC: the status, live: drawn over itself at a terminal, a line for each change elsewhere."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

from stepgrid.cli.shared import spec_arguments
from stepgrid.cli.status import planned, reader, width
from stepgrid.errors import FAILED, FINE, PROBLEMS
from stepgrid.model.plan import Plan
from stepgrid.model.status import PlanStatus, Status
from stepgrid.store.status.reader import StatusReader

LEFT = 130  # by Ctrl-C


def arguments(parser: argparse.ArgumentParser) -> None:
    spec_arguments.arguments(parser)
    spec_arguments.with_words(parser, status=Status)


def run(args: argparse.Namespace) -> int:
    plan = planned(args)
    if plan is None:
        return PROBLEMS
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    try:
        status = _followed(plan)
        while (plan := _next(args, plan)) is not None:  # loads were added
            status = _followed(plan)
    except KeyboardInterrupt:
        return LEFT
    return FAILED if status.has_failed else FINE


def _next(args: argparse.Namespace, plan: Plan) -> Plan | None:
    """The plan of the next round, where loads are added until it is sure."""
    found = planned(args) if plan.adds_loads else None
    return found if found and found.digest != plan.digest else None


def _followed(plan: Plan) -> PlanStatus:
    from stepgrid.cli.status.colours import Paint, is_terminal
    from stepgrid.cli.status.status_text import SHOWN, told

    shown = _Drawn() if is_terminal(sys.stdout) else _Log()
    status = follow(reader(plan), shown.show)
    shown.end()
    print("the run has ended\n" if shown.was_active else "nothing is left to do\n")
    print("\n".join(told(status, SHOWN, width(), Paint.of(sys.stdout))), flush=True)
    return status


class _Log:
    def __init__(self) -> None:
        self.was_active = False
        self._before: PlanStatus | None = None

    def show(self, status: PlanStatus) -> None:
        from stepgrid.cli.status.changes import changes

        self.was_active = self.was_active or status.is_active
        for line in changes(self._before, status):
            print(line, flush=True)
        self._before = status

    def end(self) -> None:
        print()


class _Drawn:
    def __init__(self) -> None:
        from stepgrid.cli.status.colours import Paint
        from stepgrid.cli.status.screen import Page
        from stepgrid.cli.status.sparkline import BLOCKS, PLAIN
        from stepgrid.cli.status.terminal import Block

        self.was_active = False
        self._block = Block(sys.stdout)
        blocks = BLOCKS if "utf" in (sys.stdout.encoding or "").lower() else PLAIN
        self._page = Page(Paint.of(sys.stdout), blocks)

    def show(self, status: PlanStatus) -> None:
        self.was_active = self.was_active or status.is_active
        columns, rows = self._block.size()
        self._block.draw(self._page.lines(status, min(columns - 1, 120), rows - 1))

    def end(self) -> None:
        self._block.clear()


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


# Look after look until the run is over, at a price that a measurement beside it does not notice.

PERIOD = 1.0  # seconds between two views
SHARE = 300  # at least so many times what a look took lies between two of them


def follow(looks: StatusReader, show: Callable[[PlanStatus], None], period: float = PERIOD) -> PlanStatus:
    """Shows every view; ends when a run has ended, or when there is nothing to wait for."""
    was_active, due, status = False, 0.0, looks.read()
    while True:
        if time.monotonic() >= due:
            began = time.thread_time()
            status = looks.read()
            due = time.monotonic() + SHARE * (time.thread_time() - began)
        status = replace(status, now=time.time())
        if not status.is_active and (was_active or status.is_complete) and not looks.read().is_active:
            return looks.read()
        was_active = was_active or status.is_active
        show(status)
        time.sleep(period)
