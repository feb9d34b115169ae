"""stepgrid check SPEC …"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from stepgrid.cli import compiled
from stepgrid.language.lock import spec_of
from stepgrid.language.problem import Problem
from stepgrid.model.counted import counted
from stepgrid.model.plan import Plan
from stepgrid.model.units import duration


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="spec files")
    compiled.narrowing(parser)
    what = "how problems are written: for people, as a JSON list, or as annotations of a pull request"
    parser.add_argument("--format", choices=("text", "json", "github"), default="text", help=what)


def run(args: argparse.Namespace) -> int:
    plans: list[Plan | None] = []
    found: dict[Problem, None] = {}  # a fault of a library is one problem, however many specs include it
    for spec in dict.fromkeys(map(spec_of, args.specs)):
        plan, problems = compiled.on_builds(*compiled.asked(args, spec))
        if args.scale is None:
            problems = compiled.with_scales(args, spec, plan, problems)
            plan = None if any(problem.severity == "error" for problem in problems) else plan
        plans.append(plan)
        found.update(dict.fromkeys(problems))
        if args.format == "text":
            compiled.tell(spec, plan, problems)
    _print(args.format, found, plans)
    return 0 if all(plans) else 1


def _print(form: str, found: Iterable[Problem], plans: Iterable[Plan | None]) -> None:
    if form == "json":
        import json

        from stepgrid.language import render_json

        print(json.dumps(render_json.records(found), indent=1, ensure_ascii=False))
        return
    if form == "github":
        from stepgrid.language import render_github

        print("".join(f"{line}\n" for line in render_github.lines(found)), end="")
    for plan in plans:
        if plan is not None:
            print(f"{plan.spec}: fine; {contents(plan)}")


def contents(plan: Plan) -> str:
    counts = ((len(plan.cells), "cell"), (len(plan.builds), "build"), (len(plan.stages), "stage"))
    said = ", ".join(counted(count, name) for count, name in counts)
    return f"{said}; about {duration(sum(stage.seconds for stage in plan.stages))} of measuring"
