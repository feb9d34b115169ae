"""stepgrid compare FIRST SECOND: two sets of results as one report, in which the first is the base."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.cli.shared import spec_arguments
from stepgrid.cli.shared.result_arguments import MEANT, selection
from stepgrid.errors import FAILED, FINE, PROBLEMS, USAGE
from stepgrid.summarize.formats import FORMATS

if TYPE_CHECKING:
    from stepgrid.summarize.report import Report


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="FIRST", help=f"the base: {MEANT}")
    parser.add_argument("second", metavar="SECOND", help="what is compared with it: likewise")
    selection(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="the output format (text)")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="the file to write (default: print it)")
    spec_arguments.narrowing(parser)


def run(args: argparse.Namespace) -> int:
    found = report_of(args, (args.first, args.second))
    if isinstance(found, int):
        return found
    from stepgrid.summarize.interchange import INTERCHANGE
    from stepgrid.summarize.page.report_formats import whole

    form = args.format
    return put(INTERCHANGE[form](found) if form in INTERCHANGE else whole(found, form, None), args.output)


def report_of(args: argparse.Namespace, names: Sequence[str]) -> Report | int:
    """The exit status, after it was said why there is none."""
    from stepgrid.cli.shared.result_sets import UnknownResults, read
    from stepgrid.summarize.side_by_side.matching_cells import NotComparable
    from stepgrid.summarize.side_by_side.side_by_side import side_by_side

    wrong = [each for each in args.where if "=" not in each]
    if wrong:
        print(f"--where {wrong[0]}: wanted AXIS=LABEL", file=sys.stderr)
        return USAGE
    try:
        with ExitStack() as kept:
            first, second = (read(args, name, kept) for name in names)
            if first is None or second is None:
                return PROBLEMS
            if first.name == second.name:
                first, second = replace(first, name=f"{first.name} (1)"), replace(second, name=f"{second.name} (2)")
            chosen = [(axis, label) for axis, _, label in (each.partition("=") for each in args.where)]
            return side_by_side(first, second, chosen)
    except (UnknownResults, NotComparable) as why:
        print(why, file=sys.stderr)
        return USAGE


def put(text: str, output: Path | None) -> int:
    if output is None:
        print(text, end="")
        return FINE
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"{output}: {error.strerror or error}", file=sys.stderr)
        return FAILED
    return FINE
