"""stepgrid report SPEC: the report of what is measured, printed; without Snakemake, and nothing is measured."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.cli.shared import spec_arguments
from stepgrid.summarize.formats import FORMATS
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.summarize.report import Report

FINE, PROBLEMS, USAGE, FAILED = 0, 1, 2, 3


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a spec file, such as specs/quickstart.yaml")
    parser.add_argument("--format", choices=FORMATS, default="text", help="the output format (text)")
    parser.add_argument("--table", metavar="TITLE", help="print only this table")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="the file to write (default: print it)")
    parser.add_argument("--strict", action="store_true", help=f"exit with {FAILED} when a claim of the spec fails")
    spec_arguments.narrowing(parser)


def run(args: argparse.Namespace) -> int:
    plan = spec_arguments.quietly(args, args.spec)
    if plan is None:
        return PROBLEMS
    from stepgrid.summarize.page.report_formats import NoTable, table, whole
    from stepgrid.summarize.page.summary_text import page_path
    from stepgrid.summarize.refresh import current

    store = host_plan.store()
    found = current(store, plan)
    try:
        text = (
            whole(found, args.format, page_path(store, plan.digest))
            if args.table is None
            else table(found, args.format, args.table)
        )
    except NoTable as wrong:
        print(wrong, file=sys.stderr)
        return USAGE
    if (status := _put(text, args.output)) != FINE:
        return status
    return _strictly(found) if args.strict else FINE


def _put(text: str, output: Path | None) -> int:
    if output is None:
        print(text, end="")
        return FINE
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"{output}: {error.strerror or error}", file=sys.stderr)
        return FAILED
    return FINE


def _strictly(found: Report) -> int:
    """Undecided is no failure: more loads would tell."""
    failed = [claim for claim in found.claims if claim.result == "fails"]
    for claim in failed:
        print(f"this claim fails: {claim.claim}", file=sys.stderr)
    return FAILED if failed else FINE
