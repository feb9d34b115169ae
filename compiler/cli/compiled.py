"""What every command that takes a spec does first: its arguments, and the plan or the problems."""

from __future__ import annotations

import argparse
import sys

from compiler.language.problem import Problems, SpecError
from compiler.plan.model import Plan


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", help="a spec file, such as specs/quickstart.yaml")
    parser.add_argument("--scale", metavar="NAME", help="one of the spec's `scales`")


def compiled(spec: str, scale: str | None) -> Plan | None:
    """The plan; None after the problems were printed. Warnings are printed too."""
    from compiler.language import render
    from compiler.run import here

    problems = Problems()
    try:
        plan = here.compiled(spec, scale, problems)
    except SpecError as error:
        print(render.text(error.problems), file=sys.stderr)
        print(f"\n{spec}: {render.counted(error.problems)}", file=sys.stderr)
        return None
    if problems.warnings:
        print(render.text(problems.warnings), file=sys.stderr)
    return plan
