"""What is new from one look to the next, a line each: for a log, where nothing can be drawn again."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.cli.status import header, status_text
from stepgrid.cli.status.colours import Paint
from stepgrid.cli.status.header import clock
from stepgrid.model.status import ActiveWork, NodeStatus, PlanStatus, Status

PLAIN = Paint()


def changes(before: PlanStatus | None, after: PlanStatus) -> Iterator[str]:
    if before is None:
        yield from header.lines(after, 10_000, PLAIN)
    known = {node.id: _key(node) for node in before.nodes.values()} if before else {}
    for node in after.nodes.values():
        if known.get(node.id) != _key(node) and (before is not None or node.work is not None):
            yield f"{clock(after.now, after.now)} [{header.done(after)}] {_said(node, after.now)}"


def _key(node: NodeStatus) -> tuple[object, ...]:
    work = node.work
    step = work.step.folder if work and work.step else None
    return node.status, step, work.waits if work else "", work.replays if work else ""


def _said(node: NodeStatus, now: float) -> str:
    title = f"{'build ' if node.is_build else ''}{node.title}"
    if node.work is not None:
        return f"{Status.WAITING if node.work.waits else Status.RUNNING}: {title}{_at_work(node.work)}"
    if node.status is Status.DONE:
        return f"done: {title}{node.time_taken}"
    said = status_text.reason(node.end, now) if node.end and node.log else node.because
    return f"{node.status}: {title}{f': {said}' if said else ''}"


def _at_work(work: ActiveWork) -> str:
    if work.waits:
        return f": for {work.waits}"
    again = f": runs again first: {work.replays}" if work.replays else ""
    return f"{again}: {status_text.place(work.step)} begins" if work.step else again
