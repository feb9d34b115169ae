"""Status of a plan as lines: the page of `status`, the frame of `run` and `watch`, and the lines of a log."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from stepgrid.collect.samples import NAME as SAMPLES
from stepgrid.collect.samples import RATES, growth, rates, rows
from stepgrid.host import files
from stepgrid.host.failure import tail
from stepgrid.host.locks import describe_processes
from stepgrid.host.terminal_output import Paint, cut, wrap
from stepgrid.model.plan import AdaptiveRepeat, Plan, load_counts
from stepgrid.model.status import (
    Action,
    ActiveStep,
    ActiveWork,
    AttemptEnd,
    Eta,
    NodeStatus,
    PlanStatus,
    RunAhead,
    Status,
    add_times,
)
from stepgrid.model.units import counted, duration, percent, short_rate, size
from stepgrid.plan.actions import NO_IMAGE
from stepgrid.plugins.driver import LiveThroughput, LiveWait
from stepgrid.plugins.registry import driver
from stepgrid.store.attempts import attempt_record

SHOWN_NODES = 5  # of a group, on a page
SHOWN_ENDS = 3  # of ended stages, in a frame
MENTIONED_WAIT = 10.0  # seconds that a run has waited for others
_INDENT = 11  # columns of a row's name in a header
_LISTED = (Status.FAILED, Status.INTERRUPTED, Status.UNSUPPORTED, Status.BLOCKED)
_PROBLEMS = (Status.UNSUPPORTED, Status.FAILED, Status.INTERRUPTED, Status.BLOCKED, Status.ELSEWHERE)
_NOTES = {Status.BLOCKED: "blocked (they need what failed)"}
STATUS_STYLES = {
    Status.DONE: "green",
    Status.RUNNING: "bold",
    Status.WAITING: "yellow",
    Status.FAILED: "red",
    Status.INTERRUPTED: "red",
    Status.BLOCKED: "yellow",
}


# One line


def head(status: PlanStatus, disturbed: int = 0) -> str:
    """Render `[12/45 done] 1 failed, 2 disturbed, ETA 3m10s`."""
    counts = Counter(node.status for node in status.stages)
    parts = [f"{counts[word]} {word}" for word in _PROBLEMS if counts[word]]
    parts += [f"{disturbed} disturbed"] if disturbed else []
    if status.wait_began is not None:
        parts.append(eta_text(status))
    elif status.eta.seconds != 0:
        parts.append(f"ETA {eta_text(status)}")
    return f"[{_share_done(counts)}] {', '.join(parts)}".rstrip()


def progress_line(status: PlanStatus, disturbed: int = 0) -> str:
    """Render the head and what runs now, as a run writes it into a log."""
    running = [_work_text(node, status.now) for node in status.at_work if node.has_begun]
    return " | ".join([head(status, disturbed), *running[:1]])


def counts_lines(status: PlanStatus, kind: str, width: int, paint: Paint) -> Iterator[str]:
    """Render `stages   12/45 done, 1 failed`, on more lines where one is too short."""
    counts = Counter(node.status for node in status.nodes.values() if node.kind == kind)
    texts = {Status.DONE: _share_done(counts)}
    texts |= {word: f"{counts[word]} {_NOTES.get(word, word)}" for word in [*Status][1:] if counts[word]}
    line, columns = f"  {f'{kind}s':8} ", _INDENT
    for position, (word, text) in enumerate(texts.items()):
        text += "," if position < len(texts) - 1 else ""
        if columns > _INDENT and columns + 1 + len(text) > width:
            yield line
            line, columns = " " * (_INDENT - 1), _INDENT - 1
        gap = " " if columns != _INDENT else ""
        line += gap + paint(text, STATUS_STYLES.get(word))
        columns += len(gap + text)
    yield line


def _share_done(counts: Counter[Status]) -> str:
    return f"{counts[Status.DONE]}/{counts.total() - counts[Status.ELSEWHERE]} done"


def eta_text(status: PlanStatus, with_end: bool = False) -> str:
    """Render the time left, with waits apart: `1m10s of measuring; waited 9m00s for the host`."""
    if status.wait_began is not None:
        return _wait_text(status, status.wait_began, with_end)
    text = time_left(status.eta)
    end = end_text(status.now, status.eta) if with_end and status.eta.seconds else ""
    builds = status.nodes_with(Status.MISSING, Status.RUNNING, Status.WAITING, kind="build")
    if builds and status.eta.seconds:  # how long they take is unknown
        text, end = f"{text} after the build{'s' if len(builds) > 1 else ''}", ""
    if status.waited < MENTIONED_WAIT:
        return text + end
    return f"{text} of measuring{end}; {waited_text(status)}"


def waited_text(status: PlanStatus) -> str:
    """Say for what a run has waited: for another run in its checkout, or the host alone, as beside its own builds."""
    has_queued = status.run is not None and status.run.waited >= 1
    return f"waited {duration(status.waited)} for {'another run' if has_queued else 'the host'}"


def _wait_text(status: PlanStatus, began: float, with_end: bool) -> str:
    ahead = status.run.ahead if status.run else ()
    queue, seconds = queue_eta(ahead), max(status.waited, status.now - began)
    if not ahead:
        waits = [node.work.wait_s for node in status.at_work if node.work]
        queue = Eta(None) if None in waits or not waits else Eta(max(wait or 0.0 for wait in waits))
    wait = f", {duration(seconds)} so far" if seconds >= 1 else ""
    remaining = f", about {time_left(queue)} more" if queue.seconds is not None else ""
    end = end_text(status.now, queue, status.eta) if ahead and with_end else ""
    subject = "another run" if ahead else "the host"
    return f"waiting for {subject}{wait}{remaining}; then {time_left(status.eta)} of measuring{end}"


def end_text(now: float, *times: Eta) -> str:
    """Render the time of day when all of it is over; empty where that is unknown."""
    total = add_times(times)
    return "" if total.seconds is None or total.is_rough else f" ({clock(now + total.seconds, now, False)})"


def time_left(eta: Eta) -> str:
    """Render the estimated time left, `3m10s`; as `2m to 5m` while this host has measured nothing of some of it."""
    if eta.seconds is None:
        return "?"
    return " to ".join(map(duration, eta.ends)) if eta.is_rough else duration(eta.seconds)


def queue_eta(ahead: Sequence[RunAhead]) -> Eta:
    """Add up the time left of runs that go first."""
    return add_times(run.eta for run in ahead)


def queue_text(ahead: Sequence[RunAhead], now: float) -> str:
    """Name runs that go first: `pid 12, specs/a.yaml, since 16:55:51 (5m20s), ETA 1m38s (17:02); then pid 15, …`."""
    return "; then ".join(_run_ahead_text(run, now) for run in ahead)


def _run_ahead_text(run: RunAhead, now: float) -> str:
    if not run.spec:
        return describe_processes([run.pid] if run.pid else [])
    since = f"since {clock(run.started, now)} ({duration(now - run.started)})"
    return f"pid {run.pid}, {run.spec}, {since}, ETA {time_left(run.eta)}{end_text(now, run.eta)}"


def step_text(step: ActiveStep, now: float) -> str:
    """Render the progress of a running step: `120/1800 s, 54k ops/s`."""
    elapsed = f"{max(now - step.since, 0.0):.0f}"
    text = f"{elapsed} s" if step.declared is None else f"{elapsed}/{step.declared:.0f} s"
    throughput, reason = current_throughput(step.kind, step.folder), current_wait(step.kind, step.folder)
    text += "" if throughput is None else f", {short_rate(throughput)} ops/s"
    return f"{text}, waits for {reason}" if reason else text


def clock(when: float, now: float, with_seconds: bool = True) -> str:
    """Render the time of day, with the date unless it is today's."""
    then, today = datetime.fromtimestamp(when), datetime.fromtimestamp(now)
    time = f"{then:%H:%M:%S}" if with_seconds else f"{then:%H:%M}"
    return time if then.date() == today.date() else f"{then:%Y-%m-%d} {time}"


def _work_text(node: NodeStatus, now: float) -> str:
    work, title = node.work or ActiveWork(()), node_title(node)
    if work.step:
        return f"{title.rpartition(': ')[0] or title}: {work.step.name} {step_text(work.step, now)}"
    since = "" if work.since is None else f" for {duration(now - work.since)}"
    return f"{title}: {work.doing or f'runs{since}'}"


# Live figures of a running step, where its kind can tell while it runs


def read_throughput(kind: str, folder: Path) -> Sequence[tuple[float, float]]:
    """Read (seconds since the step's start, operations per second) of its newest intervals, oldest first."""
    try:
        reader = driver(kind)
    except LookupError:  # of another version
        return ()
    return reader.live(folder) if isinstance(reader, LiveThroughput) else ()


def current_throughput(kind: str, folder: Path) -> float | None:
    """Read the newest whole interval; None while there is none, and for kinds that cannot tell."""
    readings = read_throughput(kind, folder)
    return readings[-1][1] if readings else None


def current_wait(kind: str, folder: Path) -> str:
    """Name what it waits for; empty for kinds that do not wait."""
    try:
        reader = driver(kind)
    except LookupError:  # of another version
        return ""
    return reader.waits_for(folder) if isinstance(reader, LiveWait) else ""


class Disturbances:
    """Warnings of the active run's stages: the host was not quiet before them, as their attempts have noted."""

    def __init__(self) -> None:
        self._warnings: dict[str, tuple[str, str]] = {}  # name of an attempt -> title, warning; empty for a quiet one

    def read(self, status: PlanStatus) -> list[tuple[str, str]]:
        """Return the title and the warning of each disturbed stage; an attempt is read once."""
        began = status.run.started if status.run and status.run.covers_plan else None
        for node in status.stages if began is not None else ():
            result, work = node.result, node.work
            folder = result.folder if result and (result.ended or 0.0) >= (began or 0.0) else None
            if folder is None and work and not work.waits:
                folder = work.attempt
            if folder is not None and folder.name not in self._warnings:
                record = attempt_record(folder)
                if record.noise is not None or not work:  # else the job may be about to look
                    self._warnings[folder.name] = node.title, record.warning
        return [entry for entry in self._warnings.values() if entry[1]]


# The page of `status`


def page_lines(status: PlanStatus, most: int | None, width: int, paint: Paint) -> Iterator[str]:
    """Show totals, then what runs, what failed, what is missing; `most` nodes of each group, None for all."""
    yield title_line(status, width, paint)
    yield from header_lines(status, Disturbances().read(status), width, paint)
    for node in status.at_work:
        yield ""
        yield from _work_lines(node, status.now, width, paint)
    for group in _LISTED:
        yield from _group_lines(status, group, most, width, paint)
    machines = Counter(node.reason for node in status.nodes_with(Status.ELSEWHERE))
    for machine, count in sorted(machines.items()):
        yield ""
        yield from wrap(f"elsewhere: {counted(count, 'stage')}: {machine}", "", "  ", width)
    nodes = status.nodes_with(Status.MISSING)
    listed = nodes if most is None else nodes[:1]
    if nodes:
        yield ""
        yield f"missing: {len(nodes)}{'' if len(listed) == len(nodes) else ', the next:'}"
    for node in listed:
        takes = "" if node.seconds is None else f"{duration(node.seconds):>7}  "
        yield cut(f"  {takes}{node.title}", width)
        if node.because:
            yield from wrap(node.because, " " * 4, width=width)


def title_line(status: PlanStatus, width: int, paint: Paint) -> str:
    plan = status.plan
    return paint(cut(f"{plan.spec}{f' ({plan.scale})' if plan.scale else ''}: {plan.title}", width), "bold")


def header_lines(status: PlanStatus, disturbed: Sequence[tuple[str, str]], width: int, paint: Paint) -> Iterator[str]:
    """Show how far the plan is, when it will be over, and who runs it."""
    run, now = status.run, status.now
    yield from counts_lines(status, "stage", width, paint)
    if not status.is_complete:
        is_exact = run is not None and run.is_exact
        yield from wrap(eta_text(status, is_exact), f"  {'ETA' if is_exact else 'to do':8} ", " " * _INDENT, width)
    yield from counts_lines(status, "build", width, paint)
    if loads := loads_so_far(status.plan):
        yield from wrap(loads, "  loads    ", " " * _INDENT, width)
    if disturbed:
        text = f"{counted(len(disturbed), 'stage')} disturbed so far; the last: {disturbed[-1][1]}"
        yield paint(cut(f"  noise    {text}", width), "yellow")
    yield from wrap(_run_text(status), "  run      ", " " * _INDENT, width)
    if run and run.stops is not None:
        length = "" if ":" in run.until else f" ({run.until})"
        end = clock(run.stops, now, with_seconds=False)
        yield cut(f"  until    {end}{length}: starts nothing that would end later", width)
    reasons = Counter((node.action, node.why) for node in status.stages if node.action in (Action.REPLAY, Action.REDO))
    for (action, reason), count in reasons.items():
        subject = f"{count} done before"
        if reason != NO_IMAGE and count == 1:  # a damaged image does not come about by itself: name its stage
            subject = next(node.title for node in status.stages if (node.action, node.why) == (action, reason))
        yield from wrap(f"{subject}: {reason}", f"  {action:8} ", " " * _INDENT, width)


def _run_text(status: PlanStatus) -> str:
    run = status.run
    if run is None:
        return "none is active, but a job still runs" if status.is_active else "none is active"
    text = "" if run.pid is None else f"pid {run.pid}"
    if run.started is not None:
        text += f", since {clock(run.started, status.now)} ({duration(status.now - run.started)})"
    if run.ahead:
        return f"{text}: waits for {queue_text(run.ahead, status.now)}"
    if run.spec and run.spec != status.plan.spec:
        return f"{text}: measures another spec, {run.spec}"
    if run.spec and not run.covers_plan:
        return f"{text}: has another --scale, --only or --set"
    return f"{text}; writes the tables and the report" if status.is_complete and not status.at_work else text


def loads_so_far(plan: Plan) -> str:
    """Count the loads of a plan that adds loads; empty for one whose number of loads is fixed."""
    fewest, most = load_counts(plan)
    if not plan.adds_loads:
        return ""
    loads = counted(most, "load") if fewest == most else f"{fewest} to {most} loads"
    limits = "more to confirm a claim that fails"
    if plan.until:
        limits = load_limits(plan.until)
    elif plan.tune:
        limits = f"then {counted(plan.tune.confirm, 'fresh load')} of the finalists"
    return f"{loads} of a cell so far ({limits})"


def load_limits(until: AdaptiveRepeat) -> str:
    """Render `until decided: 3 to 12 loads within 8h00m`."""
    within = "" if until.within is None else f" within {duration(until.within)}"
    return f"{until.goal}: {until.least} to {until.most} loads{within}"


def _work_lines(node: NodeStatus, now: float, width: int, paint: Paint) -> Iterator[str]:
    """Show what runs of a node, also of one that is done and measured again."""
    work = node.work or ActiveWork(())
    word = Status.WAITING if work.waits else Status.RUNNING
    yield paint(cut(f"{word}: {node_title(node)}", width), STATUS_STYLES[word])
    if work.waits:
        yield from wrap(f"for {work.waits}", width=width)
    elif work.replays:
        yield from wrap(f"runs again first: {work.replays}", width=width)
    if work.step:
        is_numbered = work.step.index is not None and work.step.of is not None and work.step.of > 1
        number = f" ({(work.step.index or 0) + 1} of {work.step.of})" if is_numbered else ""
        yield cut(f"  {work.step.name}{number}: {step_text(work.step, now)}", width)
    elif work.doing:
        yield f"  {work.doing}"
    since = "" if work.since is None else f"since {clock(work.since, now)} ({duration(now - work.since)}), "
    pids = f"pid {', '.join(map(str, work.pids))} " if work.pids else ""  # the kernel lists none of another machine
    yield cut(f"  {since}{pids}{f'on {work.hostname}' if work.hostname else ''}".rstrip(), width)


def node_title(node: NodeStatus) -> str:
    return f"{'build ' if node.is_build else ''}{node.title}"


def _group_lines(status: PlanStatus, group: Status, most: int | None, width: int, paint: Paint) -> Iterator[str]:
    nodes = [*status.nodes_with(group, kind="build"), *status.nodes_with(group)]
    listed = nodes if most is None or len(nodes) <= most + 1 else nodes[:most]
    if nodes:
        yield ""
        builds = sum(node.is_build for node in nodes)
        stages = [counted(len(nodes) - builds, "stage")] if len(nodes) > builds else []
        count = ", ".join([counted(builds, "build"), *stages]) if builds else f"{len(nodes)}"
        yield paint(f"{group}: {count}", STATUS_STYLES.get(group))
    for node in listed:
        yield cut(f"  {node_title(node)}", width)
        yield from wrap(failure_text(node, status.now), " " * 4, width=width)
        if node.end:
            yield f"    log: {node.end.log}"  # in full, to be copied
    if len(listed) < len(nodes):
        yield f"  … and {len(nodes) - len(listed):,} more (--all)"


def failure_text(node: NodeStatus, now: float) -> str:
    """Say why a node has no result, and when that was."""
    end: AttemptEnd | None = node.end
    if end is None:
        return node.because
    tries = f", tried {end.tries} times" if end.tries > 1 else ""
    return f"{end.sentence} ({clock(end.when, now)}{tries})"


# The frame that `run` and `watch` draw at a terminal

BLOCKS, PLAIN_BLOCKS = "▁▂▃▄▅▆▇█", "_.-:=+*#"
LAST_BYTES = 1 << 16  # of samples: more than two of them
_SHOWN_RATES = (
    "device_read_mb_per_s",
    "device_write_mb_per_s",
    "host_cpu_user_pct",
    "host_cpu_system_pct",
    "host_cpu_iowait_pct",
)


class Frame(Struct):
    """Lines about a plan that are drawn over themselves; what runs stands above what ended."""

    paint: Paint = field(default_factory=Paint)
    blocks: str = BLOCKS
    disturbances: Disturbances = field(default_factory=Disturbances)

    def lines(self, status: PlanStatus, width: int, height: int) -> list[str]:
        """Return as many lines as fit."""
        return list(self._all_lines(status, width))[: max(height, 1)]

    def _all_lines(self, status: PlanStatus, width: int) -> Iterator[str]:
        yield title_line(status, width, self.paint)
        yield self._bar(status, width)
        yield from header_lines(status, self.disturbances.read(status), width, self.paint)
        for node in status.at_work:
            yield ""
            yield from _work_lines(node, status.now, width, self.paint)
            if node.work and node.work.step:
                yield from self._step_lines(node.work.step, width)
        if not status.is_active:
            yield ""
            yield cut("no run is active: waits for one (Ctrl-C leaves)", width)
        times = {node.id: node.result.ended for node in status.nodes.values() if node.result}
        stopped = (node for node in status.nodes.values() if node.status in (Status.FAILED, Status.INTERRUPTED))
        times |= {node.id: node.end.when for node in stopped if node.end and not node.result}
        ended = sorted((when, name) for name, when in times.items() if when is not None)
        if ended:
            yield ""
            yield "ended last:"
        for when, name in reversed(ended[-SHOWN_ENDS:]):
            node = status.nodes[name]
            line = f"  {clock(when, status.now)}  {node.status}{node.time_taken}  {node.title}"
            yield self.paint(cut(line, width), "red" if node.end else None)

    def _bar(self, status: PlanStatus, width: int) -> str:
        """Draw the share of stages that are done, failed ones in red."""
        counts = Counter(node.status for node in status.stages)
        total = max(counts.total() - counts[Status.ELSEWHERE], 1)
        text = f"  {100 * counts[Status.DONE] // total} %"
        columns = max(width - len(text), 1)
        full, failed = (columns * counts[word] // total for word in (Status.DONE, Status.FAILED))
        block, empty = (self.blocks[-1], "░") if self.blocks == BLOCKS else ("#", ".")
        bar = self.paint(block * full, "green") + self.paint(block * failed, "red")
        return f"{bar}{empty * (columns - full - failed)}{text}"

    def _step_lines(self, step: ActiveStep, width: int) -> Iterator[str]:
        series = read_throughput(step.kind, step.folder)
        spark = sparkline([value for _, value in series], width - 2, self.blocks)
        if spark is not None:
            began = series[-spark.used - 1][0] if spark.used < len(series) else 0.0
            extremes = f"least {short_rate(spark.least)}, most {short_rate(spark.most)}"
            yield f"  {self.paint(spark.text, 'green')}"
            span = duration(series[-1][0] - began)
            yield cut(f"  ops/s   now {short_rate(series[-1][1])}, {extremes} in {span}", width)
        for line in _usage_lines(host_load(step.folder)):
            yield cut(f"  {line}", width)


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
    highest = max(means)
    heights = [int(mean / highest * len(blocks)) if highest > 0 else 0 for mean in means]
    text = "".join(
        blocks[min(height, len(blocks) - 1)] if mean > 0 or highest <= 0 else " "
        for mean, height in zip(means, heights, strict=True)
    )
    return Spark(text, min(newest), max(newest), used)


def host_load(folder: Path) -> dict[str, float]:
    """Return the load of the host by a step, from its newest two samples, as far as it is known."""
    try:
        lines = tail(folder / SAMPLES, LAST_BYTES).split("\n")[:-1]
    except OSError:
        return {}
    newest = [*files.json_records(lines[-2:], "monotonic")]  # the first of all lines may be cut: then it is none
    if len(newest) < 2 or newest[1]["monotonic"] <= newest[0]["monotonic"]:
        return {}
    values = zip(RATES, rates(growth(*rows(newest))), strict=True)
    return {name: value for name, value in values if name in _SHOWN_RATES and not math.isnan(value)}
