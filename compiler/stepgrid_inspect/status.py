"""stepgrid status SPEC: the status of every stage as text or JSON; stepgrid watch SPEC: the same, live."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from msgspec.structs import asdict

from stepgrid.cli.output import WIDTH
from stepgrid.cli.spec_arguments import (
    add_spec,
    explain_words,
    quiet_plan,
    spec_error,
    spec_request,
    use_site,
    warn_of_other_results,
)
from stepgrid.errors import FAILED, FINE
from stepgrid.host.terminal_output import Paint, is_terminal, text_width
from stepgrid.model.plan import Plan
from stepgrid.model.status import ActiveWork, NodeStatus, PlanStatus, Status
from stepgrid.plan import plan_file
from stepgrid.plan.plan_file import DAMAGED
from stepgrid.run.status_lines import SHOWN_NODES, current_throughput, page_lines
from stepgrid.store.status import StatusReader
from stepgrid.summarize import formats
from stepgrid.workflow import host_plan
from stepgrid.workflow.plan_cache import find
from stepgrid.workflow.screen import PERIOD, SHARE, LogView, Lookout, ScreenView, TerminalView

INTERRUPTED = 130  # exit status after Ctrl-C


def add_status_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec(parser)
    explain_words(parser, status=Status)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument("--all", action="store_true", help=f"list everything, not only {SHOWN_NODES} stages of a group")


def run_status(args: argparse.Namespace) -> int:
    plan = stored_plan(args)
    warn_of_other_results(plan)
    status = StatusReader(host_plan.store(), plan).read()
    if args.format == "json":
        print(formats.json_text(to_json(status)))
    else:
        most, width = None if args.all else SHOWN_NODES, text_width(sys.stdout, WIDTH)
        print("\n".join(page_lines(status, most, width, Paint.for_stream(sys.stdout))))
    return FAILED if status.has_failed else FINE


def stored_plan(args: argparse.Namespace) -> Plan:
    """Read the plan that the last run of this spec compiled; compile it if something has changed since."""
    if problems := use_site(args):
        raise spec_error(args.spec, problems)
    store = host_plan.store()
    with suppress(*DAMAGED):
        if request := find(store, spec_request(args, host_plan.spec_name(args.spec))):
            return plan_file.read(store.plan(request.plan))
    return quiet_plan(args)


def to_json(status: PlanStatus) -> dict[str, object]:
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
            "waits_for": [
                {
                    "pid": run.pid or None,
                    "spec": run.spec or None,
                    "started": _iso_time(run.started),
                    "seconds_left": run.eta.seconds,
                }
                for run in status.run.ahead
            ],
        },
        "totals": totals,
        "seconds_left": status.eta.seconds,
        "about": status.eta.is_rough,
        "waited": round(status.waited, 3),
        "nodes": [_node_json(node, status.now) for node in status.nodes.values()],
    }


def _node_json(node: NodeStatus, now: float) -> dict[str, object]:
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


def _work_json(work: ActiveWork, now: float) -> dict[str, object]:
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
        signal.signal(number, signal.default_int_handler)
    status = None
    try:
        while plan is not None:
            status = _watch_plan(plan)
            following = stored_plan(args) if plan.adds_stages else plan
            plan = None if following.digest == plan.digest else following
    except KeyboardInterrupt:
        return INTERRUPTED
    return FAILED if status and status.has_failed else FINE


def _watch_plan(plan: Plan) -> PlanStatus:
    reader, paint = StatusReader(host_plan.store(), plan), Paint.for_stream(sys.stdout)
    if is_terminal(sys.stdout):
        view: ScreenView = TerminalView(sys.stdout.fileno(), sys.stdout.encoding or "", paint)
    else:
        view = LogView(partial(print, flush=True), reader.store)
    status, was_active = follow(reader, view)
    view.end()
    print("the run has ended\n" if was_active else "nothing is left to do\n")
    print("\n".join(page_lines(status, SHOWN_NODES, text_width(sys.stdout, WIDTH), paint)), flush=True)
    return status


def follow(reader: StatusReader, view: ScreenView) -> tuple[PlanStatus, bool]:
    """Show the status until a run has ended or nothing is left to do; tell whether there was a run."""
    was_active, lookout = False, Lookout(reader)
    while True:
        began, status = time.thread_time(), lookout.read()
        if not status.is_active and (was_active or status.is_complete):
            status = lookout.read(is_due=True)
            if not status.is_active:
                return status, was_active
        was_active = was_active or status.is_active
        view.show(status)
        time.sleep(max(PERIOD, SHARE * (time.thread_time() - began)))
