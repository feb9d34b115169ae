"""stepgrid status SPEC: the status of every stage as text or JSON, and the estimated time left. Writes nothing."""

from __future__ import annotations

import argparse
import shutil
import sys
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from stepgrid.cli.output import WIDTH
from stepgrid.cli.spec_arguments import add_spec, explain_words, quiet_plan, spec_error, use_site
from stepgrid.errors import FAILED, FINE
from stepgrid.model.plan import Plan
from stepgrid.model.status import ActiveWork, NodeStatus, PlanStatus, Status
from stepgrid.run.status_lines import SHOWN_NODES, Paint, current_throughput, page_lines
from stepgrid.summarize.formats import json_text

if TYPE_CHECKING:
    from stepgrid.store.status import StatusReader


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
