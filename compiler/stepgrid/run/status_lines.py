"""Status of a plan as lines: of a run and its log, of the page of `status`, of the frame and the changes of `watch`."""

from __future__ import annotations

import math
import os
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from stepgrid.collect.samples import NAME as SAMPLES
from stepgrid.collect.samples import RATES, growth, rates, rows
from stepgrid.host import files
from stepgrid.host.terminal_output import cut, wrap
from stepgrid.model.plan import AdaptiveRepeat, Plan, load_counts
from stepgrid.model.status import Action, ActiveWork, AttemptEnd, NodeStatus, PlanStatus, Status, Step
from stepgrid.model.units import counted, duration, percent, short_rate, size
from stepgrid.plan.actions import NO_IMAGE
from stepgrid.plugins.driver import LiveThroughput, LiveWait
from stepgrid.plugins.registry import driver

SHOWN_NODES = 5  # of a group, on a page; of ended ones, in a frame
_LISTED = (Status.FAILED, Status.INTERRUPTED, Status.UNSUPPORTED, Status.BLOCKED)
_NOTES = {Status.BLOCKED: "blocked (what they start from failed)"}
_STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}
_STATUS_STYLES = {
    Status.DONE: "green",
    Status.RUNNING: "bold",
    Status.WAITING: "yellow",
    Status.FAILED: "red",
    Status.INTERRUPTED: "red",
    Status.BLOCKED: "yellow",
}


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours, at a terminal unless NO_COLOR is set."""

    coloured: bool = False

    @classmethod
    def for_stream(cls, stream: TextIO) -> Paint:
        return cls(is_terminal(stream) and not os.environ.get("NO_COLOR"))

    def __call__(self, text: str, style: str | None) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.coloured and style and text else text

    def status(self, text: str, status: Status) -> str:
        return self(text, _STATUS_STYLES.get(status))


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


# A line, as a run and its jobs print them


def head(status: PlanStatus, elapsed: float = 0.0) -> str:
    """Render `[12/45 done] running 1, missing 32, ETA 3m10s`, `elapsed` seconds after the status was read."""
    counts = Counter(node.status for node in status.stages)
    shares = "".join(f"{word} {counts[word]}, " for word in [*Status][1:] if counts[word])
    return f"[{_share_done(counts)}] {shares}ETA {time_left(status, elapsed)}"


def end_line(status: PlanStatus, node: NodeStatus, word: str, reason: str = "") -> str:
    """Render the end of a build or stage, behind the state of the plan."""
    time_taken = node.time_taken if word == Status.DONE else ""
    return f"{head(status)} | {node.title}: {word}{time_taken}{f' ({reason})' if reason else ''}"


def counts_text(status: PlanStatus, kind: str, paint: Paint, notes: Mapping[Status, str] | None = None) -> str:
    """Render `12/45 done, 1 failed`."""
    counts = Counter(node.status for node in status.nodes.values() if node.kind == kind)
    texts = [(Status.DONE, _share_done(counts))]
    texts += [(word, f"{counts[word]} {(notes or {}).get(word, word)}") for word in [*Status][1:] if counts[word]]
    return ", ".join(paint.status(text, word) for word, text in texts)


def _share_done(counts: Counter[Status]) -> str:
    return f"{counts[Status.DONE]}/{counts.total() - counts[Status.ELSEWHERE]} done"


def time_left(status: PlanStatus, elapsed: float = 0.0) -> str:
    """Render the estimated time left; `~` if some of it is known by declared durations alone."""
    seconds = status.eta.seconds
    if seconds is None or 0 < seconds <= elapsed:  # all that was foreseen is over, and it goes on
        return "?"
    return f"{'~' if status.eta.is_rough and seconds else ''}{duration(max(seconds - elapsed, 0.0))}"


def step_text(step: Step, now: float) -> str:
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


# The page of `status`


def page_lines(status: PlanStatus, most: int | None, width: int, paint: Paint) -> Iterator[str]:
    """Show totals, then what runs, what failed, what is missing; `most` nodes of each group, None for all."""
    yield from header_lines(status, width, paint)
    for node in status.at_work:
        yield ""
        yield from _work_lines(node, status.now, width, paint)
    for group in _LISTED:
        yield from _group_lines(status, group, most, width, paint)
    machines = Counter(node.reason for node in status.nodes_with(Status.ELSEWHERE))
    for machine, count in sorted(machines.items()):
        yield ""
        yield cut(f"elsewhere: {count} of the stages: {machine}", width)
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


def header_lines(status: PlanStatus, width: int, paint: Paint) -> Iterator[str]:
    """Show who runs the plan, how far it is, and when it will be over."""
    plan, run, now = status.plan, status.run, status.now
    yield paint(cut(f"{plan.spec}{f' ({plan.scale})' if plan.scale else ''}: {plan.title}", width), "bold")
    yield cut(f"  run      {_run_text(status)}", width)
    if run and run.stops is not None:
        length = "" if ":" in run.until else f" ({run.until})"
        end = clock(run.stops, now, with_seconds=False)
        yield cut(f"  until    {end}{length}: starts nothing that would end later", width)
    if isinstance(plan, Plan) and (loads := loads_so_far(plan)):
        yield f"  loads    {loads}"
    yield f"  stages   {counts_text(status, 'stage', paint, _NOTES)}"
    yield f"  builds   {counts_text(status, 'build', paint)}"
    if not status.is_complete:
        seconds, text = status.eta.seconds, time_left(status)
        if run is None or not run.is_exact:
            yield f"  to do    {text}"
        else:
            end = f" ({clock(now + seconds, now, with_seconds=False)})" if seconds and seconds >= 1 else ""
            yield f"  ETA      {text}{end}"
    reasons = Counter((node.action, node.why) for node in status.stages if node.action in (Action.REPLAY, Action.REDO))
    for (action, reason), count in reasons.items():
        subject = f"{count} done before"
        if reason != NO_IMAGE and count == 1:  # a damaged image does not come about by itself: name its stage
            subject = next(node.title for node in status.stages if (node.action, node.why) == (action, reason))
        yield from wrap(f"{subject}: {reason}", f"  {action:8} ", " " * 11, width)


def _run_text(status: PlanStatus) -> str:
    run = status.run
    if run is None:
        return "none is active; a job is at work all the same" if status.is_active else "none is active"
    text = "" if run.pid is None else f"pid {run.pid}"
    if run.started is not None:
        text += f", since {clock(run.started, status.now)} ({duration(status.now - run.started)})"
    if run.spec and run.spec != status.plan.spec:
        return f"{text}: of another spec, {run.spec}; this one waits for it"
    if run.spec and not run.covers_plan:
        return f"{text}: other --scale, --only or --set; the rest waits"
    return f"{text}; makes the tables and the report" if status.is_complete and not status.at_work else text


def loads_so_far(plan: Plan) -> str:
    """Count the loads of a plan that adds loads; empty for one whose number of loads is fixed."""
    fewest, most = load_counts(plan)
    if not plan.adds_loads:
        return ""
    loads = counted(most, "load") if fewest == most else f"{fewest} to {most} loads"
    limits = load_limits(plan.until) if plan.until else "more to confirm a claim that fails"
    return f"{loads} of a cell so far ({limits})"


def load_limits(until: AdaptiveRepeat) -> str:
    """Render `until decided: 3 to 12 loads within 8h00m`."""
    within = "" if until.within is None else f" within {duration(until.within)}"
    return f"{until.goal}: {until.least} to {until.most} loads{within}"


def _work_lines(node: NodeStatus, now: float, width: int, paint: Paint) -> Iterator[str]:
    """Show what runs of a node, also of one that is done and measured again."""
    work = node.work or ActiveWork(())
    yield paint.status(cut(f"{_work_status(work)}: {_node_title(node)}", width), _work_status(work))
    if work.waits:
        yield from wrap(f"for {work.waits}", width=width)
    elif work.replays:
        yield from wrap(f"runs again first: {work.replays}", width=width)
    if work.step:
        yield cut(f"  {_step_title(work.step)}: {step_text(work.step, now)}", width)
    elif work.doing:
        yield f"  {work.doing}"
    since = "" if work.since is None else f"since {clock(work.since, now)} ({duration(now - work.since)}), "
    pids = f"pid {', '.join(map(str, work.pids))} " if work.pids else ""  # the kernel lists none of another machine
    yield cut(f"  {since}{pids}{f'on {work.hostname}' if work.hostname else ''}".rstrip(), width)


def _work_status(work: ActiveWork) -> Status:
    return Status.WAITING if work.waits else Status.RUNNING


def _node_title(node: NodeStatus) -> str:
    return f"{'build ' if node.is_build else ''}{node.title}"


def _step_title(step: Step) -> str:
    is_numbered = step.index is not None and step.of is not None and step.of > 1
    return f"{step.name} ({(step.index or 0) + 1} of {step.of})" if is_numbered else step.name


def _group_lines(status: PlanStatus, group: Status, most: int | None, width: int, paint: Paint) -> Iterator[str]:
    nodes = [*status.nodes_with(group, kind="build"), *status.nodes_with(group)]
    listed = nodes if most is None or len(nodes) <= most + 1 else nodes[:most]
    if nodes:
        yield ""
        yield paint.status(f"{group}: {len(nodes)}", group)
    for node in listed:
        yield cut(f"  {_node_title(node)}", width)
        reason = _failure_text(node.end, status.now) if node.end else node.because
        yield from wrap(reason, " " * 4, width=width)
        if node.end:
            yield f"    log: {node.end.log}"  # in full, to be copied
    if len(listed) < len(nodes):
        yield f"  … and {len(nodes) - len(listed):,} more (--all)"


def _failure_text(end: AttemptEnd, now: float) -> str:
    tries = f", tried {end.tries} times" if end.tries > 1 else ""
    return f"{end.sentence} ({clock(end.when, now)}{tries})"


# The changes that `watch` prints in a log


def change_lines(before: PlanStatus | None, after: PlanStatus) -> Iterator[str]:
    if before is None:
        yield from header_lines(after, 10_000, Paint())
    keys = {node.id: _change_key(node) for node in before.nodes.values()} if before else {}
    for node in after.nodes.values():
        if keys.get(node.id) != _change_key(node) and (before is not None or node.work is not None):
            share = _share_done(Counter(stage.status for stage in after.stages))
            yield f"{clock(after.now, after.now)} [{share}] {_change_text(node, after.now)}"


def _change_key(node: NodeStatus) -> tuple[object, ...]:
    work = node.work
    step = work.step.folder if work and work.step else None
    return node.status, step, work.waits if work else "", work.replays if work else ""


def _change_text(node: NodeStatus, now: float) -> str:
    work, title = node.work, _node_title(node)
    if work is not None:
        text = f"{_work_status(work)}: {title}"
        if work.waits:
            return f"{text}: for {work.waits}"
        if work.replays:
            text += f": runs again first: {work.replays}"
        return f"{text}: {_step_title(work.step)} begins" if work.step else text
    if node.status is Status.DONE:
        return f"done: {title}{node.time_taken}"
    reason = _failure_text(node.end, now) if node.end and node.log else node.because
    return f"{node.status}: {title}{f': {reason}' if reason else ''}"


# The frame that `watch` draws at a terminal

BLOCKS, PLAIN_BLOCKS = "▁▂▃▄▅▆▇█", "_.-:=+*#"
NARROWEST = 20  # columns
FIRST_BYTES = 1 << 14  # of the end of a file, which are read at first
_SHOWN_RATES = (
    "device_read_mb_per_s",
    "device_write_mb_per_s",
    "host_cpu_user_pct",
    "host_cpu_system_pct",
    "host_cpu_iowait_pct",
)


@dataclass(slots=True)
class Frame:
    """Lines about a plan that are drawn over themselves; what runs stands above what ended."""

    paint: Paint = field(default_factory=Paint)
    blocks: str = BLOCKS
    load: HostLoad = field(default_factory=lambda: HostLoad())

    def lines(self, status: PlanStatus, width: int, height: int) -> list[str]:
        """Return as many lines as fit."""
        return list(self._all_lines(status, max(width, NARROWEST)))[: max(height, 1)]

    def _all_lines(self, status: PlanStatus, width: int) -> Iterator[str]:
        yield from header_lines(status, width, self.paint)
        for node in status.at_work:
            yield ""
            yield from _work_lines(node, status.now, width, self.paint)
            if node.work and node.work.step:
                yield from self._step_lines(node.work.step, width, status.now)
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
        for when, name in reversed(ended[-SHOWN_NODES:]):
            node = status.nodes[name]
            line = f"  {clock(when, status.now)}  {node.status}{node.time_taken}  {node.title}"
            yield self.paint(cut(line, width), "red" if node.end else None)

    def _step_lines(self, step: Step, width: int, now: float) -> Iterator[str]:
        if step.declared:
            share, columns = max(now - step.since, 0.0) / step.declared, width - 4
            full = round(min(share, 1.0) * columns)
            yield f"  [{'#' * full}{'.' * (columns - full)}]"
        series = read_throughput(step.kind, step.folder)
        spark = sparkline([value for _, value in series], width - 2, self.blocks)
        if spark is not None:
            began = series[-spark.used - 1][0] if spark.used < len(series) else 0.0
            extremes = f"least {short_rate(spark.least)}, most {short_rate(spark.most)}"
            yield f"  {self.paint(spark.text, 'green')}"
            span = duration(series[-1][0] - began)
            yield cut(f"  ops/s   now {short_rate(series[-1][1])}, {extremes} in {span}", width)
        for line in _usage_lines(self.load.rates(step.folder)):
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
        values = zip(RATES, rates(growth(*rows(self._newest))), strict=True)
        return {name: value for name, value in values if name in _SHOWN_RATES and not math.isnan(value)}


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
