"""The cells and stages of a spec that a command is about, as a person names them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from stepgrid.cli import spec_arguments
from stepgrid.cli.cell_selection import Nothing, found
from stepgrid.language.problems.problem import nearest
from stepgrid.model.plan import Plan, PlannedCell
from stepgrid.plan import stage_selection


def arguments(parser: argparse.ArgumentParser, cells: str) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a spec file, such as specs/quickstart.yaml")
    parser.add_argument("cells", nargs="*", metavar="CELL", help=cells)
    spec_arguments.narrowing(parser)


def plan_of(args: argparse.Namespace) -> Plan | int:
    """The plan, or the exit status once its problems were printed."""
    plan = spec_arguments.quietly(args, args.spec)
    return 1 if plan is None else plan


def cells_of(plan: Plan, names: Sequence[str]) -> list[PlannedCell]:
    """All of them where none is named. Nothing says which there are."""
    return [found(plan, name) for name in names] or list(plan.cells)


def check_steps(plan: Plan, names: Sequence[str]) -> None:
    there = stage_selection.step_names(plan)
    for name in names:
        if name not in there:
            raise Nothing(f"there is no step `{name}`: {nearest(name, there)}")


def refused(wrong: Nothing) -> int:
    print(wrong, file=sys.stderr)
    return 2
