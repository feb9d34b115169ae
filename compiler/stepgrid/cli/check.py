"""stepgrid check SPEC …"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable, Iterator

from stepgrid.cli.shared import adaptive_loads, spec_arguments
from stepgrid.cli.shared.resource_limits import LimitError, limited
from stepgrid.language.lock_file import spec_path
from stepgrid.language.problems import Problem, format_annotation, problem_record
from stepgrid.model.plan import Plan
from stepgrid.model.units import counted, duration
from stepgrid.summarize.formats import json_text


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="spec files")
    spec_arguments.narrowing(parser)
    what = "the output format: for people, a JSON list, or annotations of a pull request"
    parser.add_argument("--format", choices=("text", "json", "github"), default="text", help=what)


def run(args: argparse.Namespace) -> int:
    try:
        with limited():
            return _run(args)
    except LimitError as error:
        print(f"{', '.join(args.specs)}: {error}; nobody measures so much", file=sys.stderr)
        return 1


def _run(args: argparse.Namespace) -> int:
    plans: list[Plan | None] = []
    found: dict[Problem, None] = {}  # a fault of a library is one problem, however many specs include it
    for spec in dict.fromkeys(map(spec_path, args.specs)):
        plan, problems = spec_arguments.asked(args, spec, on_builds=True)
        if args.scale is None:
            problems = spec_arguments.with_scales(args, spec, plan, problems)
            plan = None if any(problem.severity == "error" for problem in problems) else plan
        plans.append(plan)
        found.update(dict.fromkeys(problems))
        if args.format == "text":
            spec_arguments.tell(spec, plan, problems)
    _print(args.format, found, plans)
    return 0 if all(plans) else 1


def _print(form: str, found: Iterable[Problem], plans: Iterable[Plan | None]) -> None:
    if form == "json":
        print(json_text.text([problem_record(problem) for problem in found]))
        return
    if form == "github":
        print("".join(f"{format_annotation(problem)}\n" for problem in found), end="")
    for plan in plans:
        if plan is not None:
            print(f"{plan.spec}: fine; {contents(plan)}", *_unchecked(plan), sep="\n")


def _unchecked(plan: Plan) -> Iterator[str]:
    """Say whose options nobody could look at."""
    from stepgrid.workflow import catalogue_check, host_plan

    if names := sorted(build.name for build in catalogue_check.unchecked(plan, host_plan.store())):
        shown = names if len(names) < 4 else [*names[:2], f"{len(names) - 2} other builds"]
        several, scale = len(names) > 1, ["--scale", plan.scale] if plan.scale else []
        command = shlex.join(["stepgrid", "builds", plan.spec, *scale, "--make"])
        reason, makes = ("their builds are", "makes them") if several else ("its build is", "makes it")
        listed = " and ".join([", ".join(shown[:-1]), shown[-1]] if several else shown)
        yield f"options of {listed} are not checked yet: {reason} not made; `{command}` {makes}"


def contents(plan: Plan) -> str:
    counts = ((len(plan.cells), "cell"), (len(plan.builds), "build"), (len(plan.stages), "stage"))
    said = ", ".join(counted(count, name) for count, name in counts)
    return f"{said}; about {duration(sum(stage.seconds for stage in plan.stages))} of measuring{_at_most(plan)}"


def _at_most(plan: Plan) -> str:
    """Where loads are added: what all of them would take."""
    if plan.until is None:
        return ""
    load = sum(stage.seconds for stage in plan.stages if not stage.load)
    return f", at most {duration(load * plan.until.most)} ({adaptive_loads.limits(plan.until)})"
