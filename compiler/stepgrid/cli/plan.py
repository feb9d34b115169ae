"""stepgrid plan SPEC: what a run would do and why, answered from the store without starting Snakemake."""

from __future__ import annotations

import argparse

from stepgrid.cli.shared import spec_arguments
from stepgrid.model.status import Action, Status
from stepgrid.plan.preview import Preview, to_json
from stepgrid.summarize.formats import json_text
from stepgrid.workflow import host_plan
from stepgrid.workflow.run_preview import outlook

SHOWN = 5


def arguments(parser: argparse.ArgumentParser) -> None:
    spec_arguments.arguments(parser)
    spec_arguments.with_words(parser, status=Status, action=Action)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument("--all", action="store_true", help=f"list every stage, not only {SHOWN} of a group")


def run(args: argparse.Namespace) -> int:
    plan, problems = spec_arguments.on_builds(*spec_arguments.asked(args))
    if args.format == "text" or plan is None:
        spec_arguments.tell(args.spec, plan, problems)
    if plan is None:
        return 1
    found = outlook(plan, host_plan.store())
    if args.format == "json":
        _print_json(found)
    else:
        from stepgrid.cli.shared.plan_text import told

        print("\n".join(told(found, None if args.all else SHOWN)))
    return 0


def _print_json(found: object) -> None:
    assert isinstance(found, Preview)
    print(json_text.text(to_json(found)))
