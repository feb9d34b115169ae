"""What is new from one look to the next, a line each: for a log, where nothing can be drawn again."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.cli.status import header, status_text
from stepgrid.cli.status.colours import Paint
from stepgrid.cli.status.header import clock
from stepgrid.model import status
from stepgrid.model.status import Node, Status
from stepgrid.model.units import duration

PLAIN = Paint()


def changes(before: Status | None, after: Status) -> Iterator[str]:
    if before is None:
        yield from header.lines(after, 10_000, PLAIN)
    known = {node.id: _key(node) for node in before.nodes} if before else {}
    for node in after.nodes:
        if known.get(node.id) != _key(node) and (before is not None or node.work is not None):
            yield f"{clock(after.now, after.now)} [{header.done(after)}] {_said(node, after.now)}"


def _key(node: Node) -> tuple[object, ...]:
    work = node.work
    step = work.step.folder if work and work.step else None
    return node.state, step, work.waits if work else "", work.replays if work else ""


def _said(node: Node, now: float) -> str:
    title = f"{'build ' if node.kind == 'build' else ''}{node.title}"
    if node.work is not None:
        return f"{node.state}: {title}{_at_work(node)}"
    if node.state == status.DONE:
        return f"done: {title}{'' if node.seconds is None else f' in {duration(node.seconds)}'}"
    if node.end is not None and node.state in (status.FAILED, status.KILLED):
        return f"{node.state}: {title}: {status_text.reason(node.end, now)}"
    return f"{node.state}: {title}{f': {node.because}' if node.because else ''}"


def _at_work(node: Node) -> str:
    work = node.work
    if work is None:
        return ""
    if work.waits:
        return f": for {work.waits}"
    again = f": runs again first: {work.replays}" if work.replays else ""
    return f"{again}: {status_text.place(work.step)} begins" if work.step else again
