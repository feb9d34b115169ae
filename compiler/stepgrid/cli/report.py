"""stepgrid report SPEC: the report of what is measured, printed; without Snakemake, and nothing is measured."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stepgrid.cli.shared import claim_gate, spec_arguments
from stepgrid.summarize.formats import FORMATS
from stepgrid.workflow import host_plan

FINE, PROBLEMS, USAGE, FAILED = 0, 1, 2, 3


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a spec file, such as specs/quickstart.yaml")
    parser.add_argument("--format", choices=FORMATS, default="text", help="the output format (text)")
    parser.add_argument("--table", metavar="TITLE", help="print only this table")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="the file to write (default: print it)")
    claim_gate.arguments(parser)
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
    return claim_gate.status(found, args.strict)


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
