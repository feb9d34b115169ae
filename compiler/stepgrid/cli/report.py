"""stepgrid report SPEC: the report of what is measured, printed; without Snakemake, and nothing is measured."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.cli.compare import put, report_of
from stepgrid.cli.shared import claim_gate, spec_arguments
from stepgrid.cli.shared.result_arguments import MEANT, selection
from stepgrid.errors import FINE, PROBLEMS, USAGE
from stepgrid.summarize.formats import FORMATS
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.summarize.report import Report

PROGRAMS = ("junit", "github", "bencher", "github-action-benchmark", "otava")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a spec file, such as specs/quickstart.yaml")
    what = f"the output format (text); for other programs: {', '.join(PROGRAMS)}"
    parser.add_argument("--format", choices=[*FORMATS, *PROGRAMS], default="text", help=what)
    parser.add_argument("--table", metavar="TITLE", help="print only this table")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="the file to write (default: print it)")
    parser.add_argument("--against", metavar="RESULTS", help=f"compare with a date, or with {MEANT}")
    selection(parser)
    claim_gate.arguments(parser)
    spec_arguments.narrowing(parser)


def run(args: argparse.Namespace) -> int:
    return _whole(args) if args.against is None else _against(args)


def _against(args: argparse.Namespace) -> int:
    """A date is one of the spec."""
    from stepgrid.store.past_store import moment

    base = f"{args.spec}@{args.against}" if moment(args.against) else args.against
    found = report_of(args, (base, args.spec))
    return found if isinstance(found, int) else _printed(args, found, None)


def _whole(args: argparse.Namespace) -> int:
    plan = spec_arguments.quietly(args, args.spec)
    if plan is None:
        return PROBLEMS
    from stepgrid.summarize.page.summary_text import page_path
    from stepgrid.summarize.refresh import current

    store = host_plan.store()
    return _printed(args, current(store, plan), page_path(store, plan.digest))


def _printed(args: argparse.Namespace, found: Report, page: Path | None) -> int:
    from stepgrid.summarize.page.report_formats import NoTable

    if args.table is not None and args.format not in FORMATS:
        print(f"--format {args.format} takes the whole report: leave --table out", file=sys.stderr)
        return USAGE
    try:
        text = _text(args, found, page)
    except NoTable as wrong:
        print(wrong, file=sys.stderr)
        return USAGE
    if (status := put(text, args.output)) != FINE:
        return status
    return claim_gate.status(found, args.strict)


def _text(args: argparse.Namespace, found: Report, page: Path | None) -> str:
    from stepgrid.summarize.interchange import INTERCHANGE, github_summary
    from stepgrid.summarize.page.report_formats import table, whole

    if args.table is not None:
        return table(found, args.format, args.table)
    if args.format == "github":
        github_summary.append(found)
    return INTERCHANGE[args.format](found) if args.format in INTERCHANGE else whole(found, args.format, page)
