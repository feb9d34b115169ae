"""stepgrid plan SPEC: what a run would do and why, answered from the store without starting Snakemake."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.cli.shared import spec_arguments
from stepgrid.model.status import Action, Status
from stepgrid.plan import preview
from stepgrid.plan.preview import Preview
from stepgrid.summarize.formats import json_text
from stepgrid.workflow import host_plan
from stepgrid.workflow.run_preview import outlook

if TYPE_CHECKING:
    from stepgrid.summarize.budget.choices import Choice

SHOWN = 5
MOST = 1000  # machines


def arguments(parser: argparse.ArgumentParser) -> None:
    spec_arguments.arguments(parser)
    spec_arguments.with_words(parser, status=Status, action=Action)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument("--machines", metavar="N", type=_count, help="what N equal machines would make of it")
    parser.add_argument("--gantt", metavar="FILE", type=Path, help="with --machines: write the chart as SVG")
    parser.add_argument("--budget", metavar="TIME", type=_time, help="which loads, runs and durations fit into 12h")
    parser.add_argument("--apply", action="store_true", help="with --budget: write the first of them into the spec")
    parser.add_argument("--all", action="store_true", help=f"list every stage, not only {SHOWN} of a group")


def run(args: argparse.Namespace) -> int:
    plan, problems = spec_arguments.asked(args, on_builds=True)
    if args.format == "text" or plan is None:
        spec_arguments.tell(args.spec, plan, problems, args.all_warnings)
    if plan is None:
        return 1
    found = outlook(plan, host_plan.store())
    if args.machines:
        return _on_machines(args, found)
    if args.budget is not None:
        return _within_budget(args, found)
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


def _within_budget(args: argparse.Namespace, found: Preview) -> int:
    from stepgrid.cli.shared import budget_text
    from stepgrid.summarize.budget import choices
    from stepgrid.summarize.refresh import current

    spec = Path(args.spec)
    length = budget_text.own_duration(spec)
    known = choices.forecasts(current(host_plan.store(), found.plan))
    price = choices.costs(found, length)
    if not known or price is None:
        print(f"{args.spec}: nothing to go by: at least two measured loads of an arm and its base", file=sys.stderr)
        return 1
    effect = found.plan.report.smallest_effect
    listed = choices.choices(known, price, args.budget, effect)
    if args.format == "json":
        print(json_text.text([each._asdict() for each in listed]))
    else:
        now = choices.choice(known, price, effect, price.loads, price.runs, 1.0)
        print("\n".join(budget_text.told(listed, now, known, length)))
    return _apply(args, spec, listed, length) if args.apply else 0


def _apply(args: argparse.Namespace, spec: Path, listed: Sequence[Choice], length: float | None) -> int:
    from stepgrid.cli.shared import budget_text

    if not listed:
        print(f"{spec}: nothing fits: not even two loads", file=sys.stderr)
        return 1
    before = spec.read_text(encoding="utf-8")
    spec.write_text(budget_text.applied(spec, listed[0], length), encoding="utf-8")
    plan, problems = spec_arguments.asked(args)
    if plan is None or max(stage.load for stage in plan.stages) + 1 != listed[0].loads:
        spec.write_text(before, encoding="utf-8")
        spec_arguments.tell(args.spec, plan, problems)
        print(
            f"{spec}: left as it was: something else than its `repeat` says how many loads there are", file=sys.stderr
        )
        return 1
    print(f"{spec}: {budget_text.change(listed[0], length)}")
    return 0


def _time(text: str) -> float:
    from stepgrid.model.units import UnitError, quantity

    try:
        return float(quantity(text, "duration"))
    except UnitError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"wanted a number of machines, 1 to {MOST}")
    return int(text)


def _print_json(found: object) -> None:
    assert isinstance(found, Preview)
    print(json_text.text(preview.to_json(found)))
