"""stepgrid status SPEC: the status of every stage as text or JSON, and the estimated time left. Writes nothing."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from stepgrid.cli.output import WIDTH
from stepgrid.cli.spec_arguments import add_spec, explain_words, loads_so_far, quiet_plan, spec_error, use_site
from stepgrid.errors import FAILED, FINE
from stepgrid.model.plan import Plan
from stepgrid.model.status import (
    Action,
    ActiveWork,
    AttemptEnd,
    NodeStatus,
    PlanStatus,
    Status,
    Step,
)
from stepgrid.model.units import duration, short_rate
from stepgrid.plan.actions import NO_IMAGE
from stepgrid.run.progress import current_throughput
from stepgrid.summarize.formats import json_text
from stepgrid.summarize.formats.text import cut, wrapped

if TYPE_CHECKING:
    from stepgrid.store.status import StatusReader

SHOWN_NODES = 5  # of a group
LISTED = (Status.FAILED, Status.INTERRUPTED, Status.UNSUPPORTED, Status.BLOCKED)
_STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}
_STATUS_STYLES = {
    Status.DONE: "green",
    Status.RUNNING: "bold",
    Status.WAITING: "yellow",
    Status.FAILED: "red",
    Status.INTERRUPTED: "red",
    Status.BLOCKED: "yellow",
}


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
        lines = status_lines(status, None if args.all else SHOWN_NODES, text_width(), Paint.for_stream(sys.stdout))
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


def status_lines(status: PlanStatus, most: int | None, width: int, paint: Paint) -> Iterator[str]:
    """Totals first, then what runs, what failed, what is missing; `most` nodes of each group, None for all."""
    yield from header_lines(status, width, paint)
    for node in status.at_work:
        yield ""
        yield from work_lines(node, status.now, width, paint)
    for group in LISTED:
        yield from _group_lines(status, group, most, width, paint)
    machines = Counter(node.reason for node in status.of(Status.ELSEWHERE))
    for machine, count in sorted(machines.items()):
        yield ""
        yield cut(f"elsewhere: {count} of the stages: {machine}", width)
    nodes = status.of(Status.MISSING)
    listed = nodes if most is None else nodes[:1]
    if nodes:
        yield ""
        yield f"missing: {len(nodes)}{'' if len(listed) == len(nodes) else ', the next:'}"
    for node in listed:
        takes = "" if node.seconds is None else f"{duration(node.seconds):>7}  "
        yield cut(f"  {takes}{node.title}", width)
        if node.because:
            yield from wrapped(node.because, " " * 4, width=width)


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
    notes = {Status.BLOCKED: "blocked (what they start from failed)"}
    yield f"  stages   {counts_text(status, 'stage', paint, notes)}"
    yield f"  builds   {counts_text(status, 'build', paint)}"
    if not status.is_complete:
        is_exact = run is not None and run.is_exact
        yield f"  ETA      {eta_text(status)}" if is_exact else f"  to do    {eta_text(status).partition(' ')[0]}"
    reasons = Counter((node.action, node.why) for node in status.stages if node.action in (Action.REPLAY, Action.REDO))
    for (action, reason), count in reasons.items():
        subject = f"{count} done before"
        if reason != NO_IMAGE and count == 1:  # a damaged image does not come about by itself: name its stage
            subject = next(node.title for node in status.stages if (node.action, node.why) == (action, reason))
        yield from wrapped(f"{subject}: {reason}", f"  {action:8} ", " " * 11, width)


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


def counts_text(status: PlanStatus, kind: str, paint: Paint, notes: dict[Status, str] | None = None) -> str:
    """12/45 done, 1 failed"""
    counts = Counter(node.status for node in status.nodes.values() if node.kind == kind)
    total = counts.total() - counts[Status.ELSEWHERE]
    texts = [(Status.DONE, f"{counts[Status.DONE]}/{total} done")]
    texts += [(word, f"{counts[word]} {(notes or {}).get(word, word)}") for word in [*Status][1:] if counts[word]]
    return ", ".join(paint.status(text, word) for word, text in texts)


def eta_text(status: PlanStatus) -> str:
    """Return the estimated time left; `~` if some of it is known by declared durations alone."""
    seconds = status.eta.seconds
    if seconds is None:
        return "?"
    prefix = "~" if status.eta.is_rough and seconds > 0 else ""
    end = f" ({clock(status.now + seconds, status.now, with_seconds=False)})" if seconds >= 1 else ""
    return f"{prefix}{duration(seconds)}{end}"


def clock(when: float, now: float, with_seconds: bool = True) -> str:
    """Return the time of day, with the date unless it is today's."""
    then, today = datetime.fromtimestamp(when), datetime.fromtimestamp(now)
    time = f"{then:%H:%M:%S}" if with_seconds else f"{then:%H:%M}"
    return time if then.date() == today.date() else f"{then:%Y-%m-%d} {time}"


def work_lines(node: NodeStatus, now: float, width: int, paint: Paint) -> Iterator[str]:
    """Show what runs of a node, also of one that is done and measured again."""
    work = node.work or ActiveWork(())
    yield paint.status(cut(f"{work_status(work)}: {node_title(node)}", width), work_status(work))
    if work.waits:
        yield from wrapped(f"for {work.waits}", width=width)
    elif work.replays:
        yield from wrapped(f"runs again first: {work.replays}", width=width)
    if work.step:
        yield cut(f"  {_progress(work.step, now)}", width)
    elif work.doing:
        yield f"  {work.doing}"
    since = "" if work.since is None else f"since {clock(work.since, now)} ({duration(now - work.since)}), "
    pids = f"pid {', '.join(map(str, work.pids))} " if work.pids else ""  # the kernel lists none of another machine
    yield cut(f"  {since}{pids}{f'on {work.hostname}' if work.hostname else ''}".rstrip(), width)


def work_status(work: ActiveWork) -> Status:
    return Status.WAITING if work.waits else Status.RUNNING


def node_title(node: NodeStatus) -> str:
    return f"{'build ' if node.is_build else ''}{node.title}"


def _progress(step: Step, now: float) -> str:
    """readww (1 of 2): 120/1800 s, 54k ops/s"""
    speed = current_throughput(step.kind, step.folder) if step.kind else None
    seconds = f"{max(now - step.since, 0.0):.0f}"
    length = seconds if step.declared is None else f"{seconds}/{step.declared:.0f}"
    return f"{step_title(step)}: {length} s{'' if speed is None else f', {short_rate(speed)} ops/s'}"


def step_title(step: Step) -> str:
    is_numbered = step.index is not None and step.of is not None and step.of > 1
    return f"{step.name} ({(step.index or 0) + 1} of {step.of})" if is_numbered else step.name


def _group_lines(status: PlanStatus, group: Status, most: int | None, width: int, paint: Paint) -> Iterator[str]:
    nodes = [*status.of(group, kind="build"), *status.of(group)]
    listed = nodes if most is None or len(nodes) <= most + 1 else nodes[:most]
    if nodes:
        yield ""
        yield paint.status(f"{group}: {len(nodes)}", group)
    for node in listed:
        yield cut(f"  {node_title(node)}", width)
        reason = failure_text(node.end, status.now) if node.end else node.because
        yield from wrapped(reason, " " * 4, width=width)
        if node.end:
            yield f"    log: {node.end.log}"  # in full, to be copied
    if len(listed) < len(nodes):
        yield f"  … and {len(nodes) - len(listed):,} more (--all)"


def failure_text(end: AttemptEnd, now: float) -> str:
    tries = f", tried {end.tries} times" if end.tries > 1 else ""
    return f"{end.sentence} ({clock(end.when, now)}{tries})"


def to_json(status: PlanStatus) -> dict[str, Any]:
    plan = status.plan
    totals = {kind: {word: len(status.of(word, kind=kind)) for word in Status} for kind in ("build", "stage")}
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
            "qps": current_throughput(step.kind, step.folder) if step.kind else None,
        },
    }


def _iso_time(when: float | None) -> str | None:
    return None if when is None else datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")
