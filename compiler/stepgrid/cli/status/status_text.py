"""A status as text: totals first, then what runs, what went wrong, what is left."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from stepgrid.cli.status import header
from stepgrid.cli.status.colours import Paint
from stepgrid.cli.status.header import clock, cut
from stepgrid.model import status as model
from stepgrid.model.number_format import short_rate
from stepgrid.model.status import End, Node, State, Status, Step, Work
from stepgrid.model.units import duration
from stepgrid.run.live_throughput import current

SHOWN = 5  # of a group
TITLED = (model.FAILED, model.KILLED, model.UNSUPPORTED, model.BLOCKED)


def told(status: Status, most: int | None, width: int, paint: Paint) -> Iterator[str]:
    """`most` nodes of each group; None = all."""
    yield from header.lines(status, width, paint)
    for state in (model.RUNNING, model.WAITING):
        for node in [*status.of(state, kind="build"), *status.of(state)]:
            yield ""
            yield from at_work(node, status.now, width, paint)
    for state in TITLED:
        yield from _group(status, state, most, width, paint)
    yield from _elsewhere(status, width)
    yield from _left(status, most, width)


def at_work(node: Node, now: float, width: int, paint: Paint) -> Iterator[str]:
    work = node.work or Work(())
    what = f"{'build ' if node.kind == 'build' else ''}{node.title}"
    yield paint.state(cut(f"{node.state}: {what}", width), node.state)
    if work.waits:
        yield from _wrapped(f"for {work.waits}", width)
    elif work.replays:
        yield from _wrapped(f"runs again first: {work.replays}", width)
    if work.step:
        yield cut(f"  {progress(work.step, now)}", width)
    elif work.doing:
        yield f"  {work.doing}"
    yield cut(f"  {_who(work, now)}", width)


def progress(step: Step, now: float) -> str:
    """readww (1 of 2): 120/1800 s, 54k ops/s."""
    speed = current(step.kind, step.folder) if step.kind else None
    far = f"{place(step)}: {elapsed(step, now)}"
    return far if speed is None else f"{far}, {short_rate(speed)} ops/s"


def elapsed(step: Step, now: float) -> str:
    passed = max(now - step.since, 0.0)
    return f"{passed:.0f} s" if step.declared is None else f"{passed:.0f}/{step.declared:.0f} s"


def place(step: Step) -> str:
    known = step.index is not None and step.of is not None and step.of > 1
    return f"{step.name} ({(step.index or 0) + 1} of {step.of})" if known else step.name


def _who(work: Work, now: float) -> str:
    since = "" if work.since is None else f"since {clock(work.since, now)} ({duration(now - work.since)}), "
    where = f" on {work.hostname}" if work.hostname else ""
    return f"{since}pid {', '.join(map(str, work.pids))}{where}"


def _group(status: Status, state: State, most: int | None, width: int, paint: Paint) -> Iterator[str]:
    nodes = [*status.of(state, kind="build"), *status.of(state)]
    shown = nodes if most is None or len(nodes) <= most + 1 else nodes[:most]
    if nodes:
        yield ""
        yield paint.state(f"{state}: {len(nodes)}", state)
    for node in shown:
        yield cut(f"  {'build ' if node.kind == 'build' else ''}{node.title}", width)
        yield from _why(node, status.now, width)
    if len(shown) < len(nodes):
        yield f"  … and {len(nodes) - len(shown):,} more (--all)"


def _why(node: Node, now: float, width: int) -> Iterator[str]:
    if node.state not in (model.FAILED, model.KILLED) or node.end is None:
        yield from _wrapped(node.because, width, 4)
        return
    yield from _wrapped(reason(node.end, now), width, 4)
    yield f"    {'attempt' if node.state == model.KILLED else 'log'}: {node.end.log}"  # whole: it is copied


def reason(end: End, now: float) -> str:
    step = f"{end.step}: " if end.step else ""
    tried = f", tried {end.tries} times" if end.tries > 1 else ""
    return f"{step}{end.message} ({clock(end.when, now)}{tried})"


def _elsewhere(status: Status, width: int) -> Iterator[str]:
    nodes = status.of(model.ELSEWHERE)
    for machine in sorted({node.because for node in nodes}):
        count = sum(node.because == machine for node in nodes)
        yield ""
        yield cut(f"elsewhere: {count} of the stages: {machine}", width)


def _left(status: Status, most: int | None, width: int) -> Iterator[str]:
    nodes = status.of(model.LEFT)
    if not nodes:
        return
    shown = nodes if most is None else nodes[:1]
    yield ""
    yield f"left: {len(nodes)}{'' if len(shown) == len(nodes) else ', the next:'}"
    for node in shown:
        takes = "" if node.seconds is None else f"{duration(node.seconds):>7}  "
        yield cut(f"  {takes}{node.title}", width)
        if node.because:
            yield from _wrapped(node.because, width, 4)


def _wrapped(text: str, width: int, indent: int = 2) -> Iterator[str]:
    margin = " " * indent
    yield from textwrap.wrap(
        text, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False, break_long_words=False
    )
