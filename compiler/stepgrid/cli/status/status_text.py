"""A status as text: totals first, then what runs, what went wrong, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stepgrid.cli.status import header
from stepgrid.cli.status.colours import Paint
from stepgrid.cli.status.header import clock
from stepgrid.model.number_format import short_rate
from stepgrid.model.status import ActiveWork, AttemptEnd, NodeStatus, PlanStatus, Status, Step
from stepgrid.model.units import duration
from stepgrid.run.live_throughput import current
from stepgrid.summarize.formats.text import cut, wrapped

SHOWN = 5  # of a group
TITLED = (Status.FAILED, Status.INTERRUPTED, Status.UNSUPPORTED, Status.BLOCKED)


def told(found: PlanStatus, most: int | None, width: int, paint: Paint) -> Iterator[str]:
    """`most` nodes of each group; None = all."""
    yield from header.lines(found, width, paint)
    for node in found.at_work:
        yield ""
        yield from at_work(node, found.now, width, paint)
    for status in TITLED:
        yield from _group(found, status, most, width, paint)
    yield from _elsewhere(found, width)
    yield from _missing(found, most, width)


def at_work(node: NodeStatus, now: float, width: int, paint: Paint) -> Iterator[str]:
    """Also of one that is done, and measured again."""
    work = node.work or ActiveWork(())
    status = Status.WAITING if work.waits else Status.RUNNING
    what = f"{'build ' if node.is_build else ''}{node.title}"
    yield paint.status(cut(f"{status}: {what}", width), status)
    if work.waits:
        yield from wrapped(f"for {work.waits}", width=width)
    elif work.replays:
        yield from wrapped(f"runs again first: {work.replays}", width=width)
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


def _who(work: ActiveWork, now: float) -> str:
    since = "" if work.since is None else f"since {clock(work.since, now)} ({duration(now - work.since)}), "
    pids = f"pid {', '.join(map(str, work.pids))} " if work.pids else ""  # of another machine the kernel lists none
    return f"{since}{pids}{f'on {work.hostname}' if work.hostname else ''}".rstrip()


def _group(found: PlanStatus, status: Status, most: int | None, width: int, paint: Paint) -> Iterator[str]:
    nodes = [*found.of(status, kind="build"), *found.of(status)]
    shown = nodes if most is None or len(nodes) <= most + 1 else nodes[:most]
    if nodes:
        yield ""
        yield paint.status(f"{status}: {len(nodes)}", status)
    for node in shown:
        yield cut(f"  {'build ' if node.is_build else ''}{node.title}", width)
        yield from wrapped(reason(node.end, found.now) if node.end else node.because, " " * 4, width=width)
        if node.end:
            yield f"    log: {node.end.log}"  # whole: it is copied
    if len(shown) < len(nodes):
        yield f"  … and {len(nodes) - len(shown):,} more (--all)"


def reason(end: AttemptEnd, now: float) -> str:
    tried = f", tried {end.tries} times" if end.tries > 1 else ""
    return f"{end.said} ({clock(end.when, now)}{tried})"


def _elsewhere(found: PlanStatus, width: int) -> Iterator[str]:
    for machine, count in sorted(Counter(node.reason for node in found.of(Status.ELSEWHERE)).items()):
        yield ""
        yield cut(f"elsewhere: {count} of the stages: {machine}", width)


def _missing(found: PlanStatus, most: int | None, width: int) -> Iterator[str]:
    nodes = found.of(Status.MISSING)
    if not nodes:
        return
    shown = nodes if most is None else nodes[:1]
    yield ""
    yield f"missing: {len(nodes)}{'' if len(shown) == len(nodes) else ', the next:'}"
    for node in shown:
        takes = "" if node.seconds is None else f"{duration(node.seconds):>7}  "
        yield cut(f"  {takes}{node.title}", width)
        if node.because:
            yield from wrapped(node.because, " " * 4, width=width)
