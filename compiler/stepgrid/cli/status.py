"""stepgrid status SPEC: the status of every stage as text or JSON; stepgrid watch SPEC: the same, live."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from stepgrid.cli.output import WIDTH
from stepgrid.cli.spec_arguments import add_spec, explain_words, quiet_plan, spec_error, use_site
from stepgrid.errors import FAILED, FINE
from stepgrid.host.terminal_output import raw, visible
from stepgrid.model.plan import Plan
from stepgrid.model.status import ActiveWork, NodeStatus, PlanStatus, Status
from stepgrid.run.status_lines import (
    BLOCKS,
    PLAIN_BLOCKS,
    SHOWN_NODES,
    Frame,
    Paint,
    change_lines,
    current_throughput,
    is_terminal,
    page_lines,
)
from stepgrid.summarize import json_text

if TYPE_CHECKING:
    from stepgrid.store.status import StatusReader


INTERRUPTED = 130  # exit status after Ctrl-C
PERIOD = 1.0  # seconds between two views
READING_SHARE = 300  # between two readings lies at least so many times the time that one took
WIDEST = 120  # columns


def add_status_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec(parser)
    explain_words(parser, status=Status)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument("--all", action="store_true", help="list every stage of a group")


def run_status(args: argparse.Namespace) -> int:
    status = status_reader(stored_plan(args)).read()
    if args.format == "json":
        print(json_text.text(to_json(status)))
    else:
        lines = page_lines(status, None if args.all else SHOWN_NODES, text_width(), Paint.for_stream(sys.stdout))
        print("\n".join(lines))
    return FAILED if status.has_failed else FINE


def stored_plan(args: argparse.Namespace) -> Plan:
    """Read the plan that the last run of this spec compiled; compile it if something has changed since."""
    from stepgrid.plan import plan_file
    from stepgrid.plan.plan_file import DAMAGED
    from stepgrid.workflow import host_plan
    from stepgrid.workflow.plan_cache import Request, find

    if problems := use_site(args):
        raise spec_error(args.spec, problems)
    store = host_plan.store()
    with suppress(*DAMAGED):
        if request := find(store, Request(host_plan.spec_name(args.spec), args.scale, args.only, tuple(args.sets))):
            return plan_file.read(store.plan(request.plan))
    return quiet_plan(args)


def status_reader(plan: Plan) -> StatusReader:
    from stepgrid.store.status import StatusReader
    from stepgrid.workflow import host_plan

    return StatusReader(host_plan.store(), plan)


def text_width() -> int:
    """Return the terminal's width, at most WIDTH."""
    return min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH) if sys.stdout.isatty() else WIDTH


def to_json(status: PlanStatus) -> dict[str, Any]:
    plan = status.plan
    totals = {kind: {word: len(status.nodes_with(word, kind=kind)) for word in Status} for kind in ("build", "stage")}
    return {
        "spec": plan.spec,
        "scale": plan.scale,
        "plan": plan.digest,
        "title": plan.title,
        "time": _iso_time(status.now),
        "run": status.run
        and {
            "pid": status.run.pid,
            "spec": status.run.spec,
            "own": status.run.covers_plan,
            "until": status.run.until or None,
            "started": _iso_time(status.run.started),
            "stops": _iso_time(status.run.stops),
        },
        "totals": totals,
        "seconds_left": status.eta.seconds,
        "about": status.eta.is_rough,
        "nodes": [_node_json(node, status.now) for node in status.nodes.values()],
    }


def _node_json(node: NodeStatus, now: float) -> dict[str, Any]:
    return {
        "id": node.id,
        "kind": node.kind,
        "title": node.title,
        "state": node.status,
        "action": node.action,
        "because": node.because or None,
        "cause": node.cause,
        "seconds": node.seconds,
        "ended": _iso_time(node.result.ended if node.result else None),
        "work": node.work and _work_json(node.work, now),
        "end": node.end and {**asdict(node.end), "log": str(node.end.log), "when": _iso_time(node.end.when)},
    }


def _work_json(work: ActiveWork, now: float) -> dict[str, Any]:
    step = work.step
    return {
        "pids": list(work.pids),
        "attempt": None if work.attempt is None else str(work.attempt),
        "since": _iso_time(work.since),
        **{name: getattr(work, name) or None for name in ("hostname", "waits", "doing", "replays")},
        "step": step
        and {
            **asdict(step),
            "since": _iso_time(step.since),
            "seconds": round(max(now - step.since, 0.0), 3),
            "folder": str(step.folder),
            "qps": current_throughput(step.kind, step.folder),
        },
    }


def _iso_time(when: float | None) -> str | None:
    return None if when is None else datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")


# stepgrid watch: drawn over itself at a terminal, a line for each change elsewhere


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
