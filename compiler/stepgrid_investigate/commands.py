"""stepgrid bisect and repro: since when a figure is worse, and a script that shows a difference to others."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from stepgrid.cli.failures import CommandError, ending_with
from stepgrid.cli.spec_arguments import (
    SPEC_HELP,
    add_narrowing,
    add_spec,
    compiled_plan,
    parse_quantity,
    quiet_plan,
    select_cell,
)
from stepgrid.errors import FAILED, FINE, USAGE
from stepgrid.host.terminal_output import folded
from stepgrid.model.units import counted, duration
from stepgrid.workflow import host_plan
from stepgrid_page.folders import check_folder

WITHIN = "20m"  # to shrink a script


def add_bisect_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec(parser)
    parser.add_argument("--good", required=True, metavar="REF", help="a version of the build, or a git commit or tag")
    parser.add_argument("--bad", required=True, metavar="REF", help="a later one, which is worse")
    parser.add_argument("--build", metavar="NAME", help="the build to search, if the spec has several")
    parser.add_argument("--step", metavar="NAME", help="the measured step, if there are several")
    question = parser.add_mutually_exclusive_group()
    question.add_argument("--metric", metavar="NAME", default="qps", help="the metric that became worse (qps)")
    question.add_argument("--claim", metavar="TEXT", help="a claim of the spec that holds at GOOD and fails at BAD")
    parser.add_argument("--by", type=_share, default=0.05, metavar="SHARE", help="by how much it became worse (5%%)")
    parser.add_argument("--retry", action="store_true", help="try again what could not be built or run before")
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="print what the search would cost; measure nothing"
    )


def _share(text: str) -> float:
    share = parse_quantity(text, "percent") / 100
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"expected more than 0% and less than 100%, found {text}")
    return share


def run_bisect(args: argparse.Namespace) -> int:
    plan = compiled_plan(args)
    from stepgrid_investigate.bisect.measurement import Stopped
    from stepgrid_investigate.bisect.question import SearchError, Words, make_request
    from stepgrid_investigate.bisect.report import write_report
    from stepgrid_investigate.bisect.session import Session

    words = Words(
        *(plan.spec, args.scale, args.only, tuple(args.sets)),
        *(args.good, args.bad, args.build, args.step, args.metric, args.claim, args.by),
    )
    command = shlex.join(["stepgrid", *sys.argv[1:]])
    try:
        with ending_with(USAGE, SearchError):
            session = Session(host_plan.store(), plan, make_request(words, plan), command)
            if args.dry_run:
                print(session.forecast())
                return FINE
            report = session.run(args.retry)
    except Stopped as error:
        raise CommandError(f"the search is not over: {error}. The same command goes on", FAILED) from error
    print(write_report(report))
    return FINE if report.findings.is_found else FAILED


def add_repro_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument("cell", metavar="CELL", help="a cell's id, or labels that single it out")
    parser.add_argument("--against", metavar="CELL", help="the cell to compare it with (the report's base)")
    parser.add_argument("--step", metavar="NAME", help="the measured step (the one that differs most)")
    parser.add_argument("--metric", metavar="NAME", help="the figure (the one that the report leads with)")
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--shrink",
        action="store_true",
        help="take steps, options, rows, threads and time away while the script shows the difference",
    )
    parser.add_argument(
        "--until", metavar="TIME", type=parse_quantity, default=WITHIN, help=f"how long to shrink ({WITHIN})"
    )
    add_narrowing(parser)


def run_repro(args: argparse.Namespace) -> int:
    from stepgrid.summarize.report_files import current_report
    from stepgrid_investigate.repro import finding, script, shrink

    folder: Path = args.output
    check_folder(folder)
    plan, store = quiet_plan(args), host_plan.store()
    against = select_cell(plan, args.against) if args.against else None
    question = finding.ReproQuestion(select_cell(plan, args.cell), against, args.step, args.metric)
    difference = finding.find(current_report(store, plan), plan, question)
    arms = finding.make_arms(store, plan, difference)
    repro = script.Repro(difference, arms, script.ROUNDS, sum(arm.seconds for arm in arms) * script.ROUNDS)
    if args.shrink:
        if not difference.is_difference:
            sentence = f"{difference.step}: {difference.expected} is no difference that a smaller script could show"
            raise CommandError(f"{sentence}: measure more loads, or leave `--shrink` out", FAILED)

        def say(text: str) -> None:
            print(folded(f"repro: {text}", sys.stderr), file=sys.stderr, flush=True)

        repro = shrink.Shrinking(repro, folder, args.until, say).run()
    script.write(repro, folder)
    ratio = f"{repro.finding.metric.title} {repro.finding.expected} {repro.finding.verdict}".rstrip()
    print(f"{folder / script.SCRIPT}: {counted(repro.commands, 'command')}, {duration(repro.seconds)}, {ratio}")
    if not difference.is_difference:
        sentence = f"repro: the loads show no difference of `{difference.step}`: measure more before you hand it over"
        print(sentence, file=sys.stderr)
    if args.shrink and not shrink.is_shown(repro.finding.interval, difference.interval):
        raise CommandError("the last run does not show the difference again: give it more time by `--until`", FAILED)
    return FINE
