"""stepgrid plan SPEC: what a run would do and why, answered from the store without starting Snakemake."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stepgrid.cli.shared import spec_arguments
from stepgrid.model.status import Action, Status
from stepgrid.plan import preview
from stepgrid.plan.preview import Preview
from stepgrid.summarize.formats import json_text
from stepgrid.workflow import host_plan
from stepgrid.workflow.run_preview import outlook

SHOWN = 5
MOST = 1000  # machines


def arguments(parser: argparse.ArgumentParser) -> None:
    spec_arguments.arguments(parser)
    spec_arguments.with_words(parser, status=Status, action=Action)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument("--machines", metavar="N", type=_count, help="what N equal machines would make of it")
    parser.add_argument("--gantt", metavar="FILE", type=Path, help="with --machines: write the chart as SVG")
    parser.add_argument("--all", action="store_true", help=f"list every stage, not only {SHOWN} of a group")


def run(args: argparse.Namespace) -> int:
    plan, problems = spec_arguments.on_builds(*spec_arguments.asked(args))
    if args.format == "text" or plan is None:
        spec_arguments.tell(args.spec, plan, problems)
    if plan is None:
        return 1
    found = outlook(plan, host_plan.store())
    if args.machines:
        return _on_machines(args, found)
    if args.format == "json":
        _print_json(found)
    else:
        from stepgrid.cli.shared.plan_text import told

        print("\n".join(told(found, None if args.all else SHOWN)))
    return 0


def _on_machines(args: argparse.Namespace, found: Preview) -> int:
    from stepgrid.cli.shared import fleet_text
    from stepgrid.plan.fleet.fleet_plan import fleet, to_json

    known = fleet(found, args.machines)
    print(json_text.text(to_json(known)) if args.format == "json" else "\n".join(fleet_text.told(known)))
    if args.gantt:
        try:
            args.gantt.write_text(fleet_text.svg(known), encoding="utf-8")
        except OSError as error:
            print(f"{args.gantt}: {error.strerror or error}", file=sys.stderr)
            return 3
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"wanted a number of machines, 1 to {MOST}")
    return int(text)


def _print_json(found: object) -> None:
    assert isinstance(found, Preview)
    print(json_text.text(preview.to_json(found)))
