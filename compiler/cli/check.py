"""stepgrid check SPEC …"""

from __future__ import annotations

import argparse

from compiler.cli.compiled import compiled
from compiler.plan.model import Plan
from compiler.run.progress import duration


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="spec files")
    parser.add_argument("--scale", metavar="NAME", help="one of the specs' `scales`")


def run(args: argparse.Namespace) -> int:
    plans = [compiled(spec, args.scale) for spec in args.specs]
    for plan in plans:
        if plan is not None:
            print(f"{plan.spec}: fine; {contents(plan)}")
    return 0 if all(plans) else 1


def contents(plan: Plan) -> str:
    counts = ((len(plan.cells), "cell"), (len(plan.builds), "build"), (len(plan.stages), "stage"))
    counted = ", ".join(f"{count:,} {name}{'' if count == 1 else 's'}" for count, name in counts)
    return f"{counted}; about {duration(sum(stage.seconds for stage in plan.stages))} of measuring"
