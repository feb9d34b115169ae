"""stepgrid status SPEC: what became of each stage, what runs, how long the rest takes. It writes nothing."""

from __future__ import annotations

import argparse
import shutil
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from stepgrid.cli.shared import spec_arguments
from stepgrid.errors import FAILED, FINE, PROBLEMS
from stepgrid.model.plan import Plan
from stepgrid.model.status import Status
from stepgrid.summarize.formats import json_text

if TYPE_CHECKING:
    from stepgrid.store.status.reader import StatusReader

WIDTH = 100  # of what is not a terminal, and at most of one


def arguments(parser: argparse.ArgumentParser) -> None:
    spec_arguments.arguments(parser)
    spec_arguments.with_words(parser, status=Status)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument("--all", action="store_true", help="list every stage of a group")


def run(args: argparse.Namespace) -> int:
    plan = planned(args)
    if plan is None:
        return PROBLEMS
    status = reader(plan).read()
    if args.format == "json":
        from stepgrid.cli.status.status_json import to_json

        print(json_text.text(to_json(status)))
    else:
        from stepgrid.cli.status.colours import Paint
        from stepgrid.cli.status.status_text import SHOWN, told

        print("\n".join(told(status, None if args.all else SHOWN, width(), Paint.of(sys.stdout))))
    return FAILED if status.has_failed else FINE


def reader(plan: Plan) -> StatusReader:
    from stepgrid.store.status.reader import StatusReader
    from stepgrid.workflow import host_plan

    return StatusReader(host_plan.store(), plan)


def planned(args: argparse.Namespace) -> Plan | None:
    """As a run of the spec found it, if nothing has changed since: then it need not be compiled. Nothing is written."""
    from stepgrid.plan.files import plan_file
    from stepgrid.plan.files.integrity import DAMAGED
    from stepgrid.workflow import host_plan
    from stepgrid.workflow.plan_cache import Request, find

    if wrong := spec_arguments.wrong_site(args):
        spec_arguments.tell(args.spec, None, wrong)
        return None
    store = host_plan.store()
    with suppress(*DAMAGED):
        if found := find(store, Request(host_plan.named(args.spec), args.scale, args.only, tuple(args.sets))):
            return plan_file.read(store.plan(found.plan))
    return spec_arguments.quietly(args, args.spec)  # warnings are left to the commands that are about figures


def width() -> int:
    return min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH) if sys.stdout.isatty() else WIDTH
