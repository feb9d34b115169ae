"""stepgrid report: the report of results, and results by the names that a person gives them."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stepgrid.cli.failures import CommandError, ending_with
from stepgrid.cli.output import add_output, check_gate, gate_status, read_gate, write_file, write_output
from stepgrid.cli.spec_arguments import (
    RESULTS_HELP,
    SPEC_HELP,
    add_gate,
    add_narrowing,
    add_strict,
    add_where,
    quiet_plan,
    warn_of_other_results,
)
from stepgrid.errors import USAGE
from stepgrid.host.terminal_output import Paint
from stepgrid.language.problems import nearest
from stepgrid.model.plan import Plan
from stepgrid.model.status import Status
from stepgrid.plan import plan_file
from stepgrid.plugins.registry import COMMANDS, EXPORTS, FORMS, PICTURES
from stepgrid.store import plans
from stepgrid.store.store import PastStore, Store, SummaryFiles, brief_width, time_name_prefix
from stepgrid.summarize.formats import FORMATS
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.summarize.report import Report

FRAGMENT = "html-fragment"
PROGRAMS = ("junit", "github", "bencher", "github-action-benchmark")  # in this order, those of packages behind
SPEC_ENDINGS = (".yaml", ".yml")
SHOWN_DIGEST = 8  # letters of a plan's digest
_DIGEST = re.compile(r"[0-9a-f]{6,20}")


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    forms = [name for name in FORMS.names() if name not in (*FORMATS, FRAGMENT, *PROGRAMS)]
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument(
        "--format",
        choices=[*FORMATS, FRAGMENT, *PROGRAMS, *forms],
        metavar="FORMAT",
        default="text",
        help=f"the output format: {', '.join(FORMATS)} (text); {FRAGMENT}: for a post; for other programs: "
        f"{', '.join((*PROGRAMS, *forms))}",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--brief", action="store_true", help="print the lines that a run ends with (the default)")
    length.add_argument("--all", action="store_true", help="list everything, as summary.txt has it")
    parser.add_argument("--table", metavar="TITLE", help="print only this table")
    parser.add_argument("--chart", metavar="NAME", help="write this chart to -o x.svg or x.png (main: the first)")
    add_output(parser)
    parser.add_argument("--against", metavar="RESULTS", help=f"compare with a date, or with {RESULTS_HELP}")
    add_where(parser)
    add_strict(parser)
    add_gate(parser)
    add_narrowing(parser)


def run_report(args: argparse.Namespace) -> int:
    from stepgrid.summarize.report_files import current_report
    from stepgrid.summarize.report_formats import NoForm, NoTable, report_text, table

    page, gate = None, read_gate(args)
    if args.against is None:
        plan, store = quiet_plan(args), host_plan.store()
        check_gate(gate, plan)
        warn_of_other_results(plan)
        report, page = current_report(store, plan), SummaryFiles.of(store, plan.digest).page
    else:
        base = f"{args.spec}@{args.against}" if time_name_prefix(args.against) else args.against
        compare = import_module(COMMANDS.get("compare").module)
        report = compare.compare_results(args, (base, args.spec))
    if args.chart is not None:
        _write_chart(args, report)
        return gate_status(report, gate, args.strict)
    if args.format == "text" and (args.brief or not any((args.all, args.table, args.output, args.against))):
        from stepgrid.summarize.summary_text import brief_lines

        lines = brief_lines(report, page, brief_width(sys.stdout), Paint.for_stream(sys.stdout))
        text = "".join(f"{line}\n" for line in lines)
    elif args.table is None:
        with ending_with(USAGE, NoForm):
            text = report_text(report, args.format, page, gate)
    elif args.format not in FORMATS:
        raise CommandError(f"--format {args.format} takes the whole report: leave --table out")
    else:
        with ending_with(USAGE, NoTable):
            text = table(report, args.format, args.table)
    write_output(text, args.output, args.replace)
    return gate_status(report, gate, args.strict)


def _write_chart(args: argparse.Namespace, report: Report) -> None:
    from stepgrid.summarize.report_formats import NoForm

    if args.output is None or args.table is not None or args.format != "text":
        raise CommandError("--chart writes a file: -o x.svg or -o x.png, without --table and --format")
    ending = args.output.suffix.removeprefix(".")
    if ending not in PICTURES.names():
        endings = " or ".join(f".{name}" for name in reversed(PICTURES.names()))
        raise CommandError(f"{args.output}: a chart is written as {endings}")
    with ending_with(USAGE, NoForm):
        content = PICTURES.get(ending)(report, args.chart)
    write_file(lambda file: file.write_bytes(content), args.output, args.replace)


# Sets of results as a person names them: a spec, a stored plan, either of them at some date, or an exported file.


class LocatedResults(NamedTuple):
    """Results whose tables are up to date."""

    store: Store
    plan: Plan
    name: str


def locate_results(args: argparse.Namespace, text: str, temporary_folders: ExitStack) -> LocatedResults:
    """Find results by name; what must be made for it lies in a temporary folder."""
    name, _, date = text.rpartition("@") if "@" in text and not Path(text).exists() else (text, "", "")
    if not date and (file := Path(name)).is_file() and file.suffix not in SPEC_ENDINGS:
        return _bundle(file, Store(_temporary_folder(temporary_folders)))
    from stepgrid.summarize.report_files import current_report

    until = time_name_prefix(date) if date else None
    if date and until is None:
        raise CommandError(f"`{date}` is no date: write it as 2026-11-20, or 2026-11-20T18:30 (UTC)")
    plan, name = _named_plan(args, name)
    store = host_plan.store()
    if until is None:
        current_report(store, plan)
        return LocatedResults(store, plan, name)
    past = PastStore(store, until, _temporary_folder(temporary_folders))
    measured = _plan_at(past, store, plan, until)
    if measured is None:
        raise CommandError(f"nothing of {plan.spec or name} was measured until {date}")
    return LocatedResults(past, measured, date)


def _temporary_folder(temporary_folders: ExitStack) -> Path:
    from tempfile import TemporaryDirectory

    return Path(temporary_folders.enter_context(TemporaryDirectory(prefix="stepgrid-compare-")))


def _bundle(file: Path, store: Store) -> LocatedResults:
    """Import a file into a store of its own, apart from the results that are here."""
    from stepgrid.build.error import BuildError
    from stepgrid.collect.job import collect

    with ending_with(USAGE, BuildError):
        plan = EXPORTS.get("bundle")(store, file)
    collect(store, plan)
    return LocatedResults(store, plan, file.stem)


def _named_plan(args: argparse.Namespace, name: str) -> tuple[Plan, str]:
    """Return the plan of a spec, or the stored plan whose digest begins so, and its short name."""
    if Path(name).suffix in SPEC_ENDINGS:
        return quiet_plan(args, name), Path(name).stem
    stored = {plan.digest: plan for plan in plans.stored_plans(host_plan.store())}
    matches = [digest for digest in stored if _DIGEST.fullmatch(name) and digest.startswith(name)]
    if len(matches) != 1:
        sentence = f"several plans begin with `{name}`" if matches else f"there is no plan, spec or file `{name}`"
        hint = nearest(name, stored) if _DIGEST.fullmatch(name) else f"wanted: {RESULTS_HELP}"
        raise CommandError(f"{sentence}: {hint}")
    return plan_file.read(stored[matches[0]].folder), matches[0][:SHOWN_DIGEST]


def _plan_at(past: Store, store: Store, plan: Plan, until: str) -> Plan | None:
    """Return the newest plan that the spec had then, else its present one: forms may have measured its stages."""
    from stepgrid.collect.job import collect

    digests = [
        stored.digest
        for stored in reversed(plans.stored_plans(store))
        if (stored.spec, stored.scale) == (plan.spec, plan.scale) and stored.time_name <= f"{until}~"
    ]
    for digest in (*digests, plan.digest):
        if store.has_plan(digest):
            candidate = plan_file.read(store.plan(digest))
            nodes = collect(past, candidate).values()
            if any(node.status is Status.DONE for node in nodes if not node.is_build):
                return candidate
    return None
