"""stepgrid repro SPEC CELL: hand a finding over as a script, as small as it can be."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stepgrid.cli.failures import CommandError
from stepgrid.cli.spec_arguments import SPEC_HELP, add_narrowing, quiet_plan, select_cell
from stepgrid.errors import FAILED, FINE
from stepgrid.host.terminal_output import folded
from stepgrid.model.units import counted, duration
from stepgrid.workflow import host_plan

WITHIN = "20m"


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
        "--within", metavar="TIME", type=_seconds, default=WITHIN, help=f"how long to shrink ({WITHIN})"
    )
    add_narrowing(parser)


def run_repro(args: argparse.Namespace) -> int:
    from stepgrid.repro import finding, script, shrink
    from stepgrid.summarize.report_files import current_report

    folder: Path = args.output
    if folder.exists() and not (folder / script.SCRIPT).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise CommandError(f"{folder} is there already: name a new folder, or one of an earlier `stepgrid repro`")
    plan, store = quiet_plan(args), host_plan.store()
    against = select_cell(plan, args.against) if args.against else None
    question = finding.Question(select_cell(plan, args.cell), against, args.step, args.metric)
    difference = finding.find(current_report(store, plan), plan, question)
    arms = finding.make_arms(store, plan, difference)
    repro = script.Repro(difference, arms, script.ROUNDS, sum(arm.seconds for arm in arms) * script.ROUNDS)
    if args.shrink:
        if not difference.is_difference:
            sentence = f"{difference.step}: {difference.expected} is no difference that a smaller script could show"
            raise CommandError(f"{sentence}: measure more loads, or leave `--shrink` out", FAILED)

        def say(text: str) -> None:
            print(folded(f"repro: {text}", sys.stderr), file=sys.stderr, flush=True)

        repro = shrink.Shrinking(repro, folder, args.within, say).run()
    script.write(repro, folder)
    ratio = f"{repro.finding.metric.title} {repro.finding.expected} {repro.finding.verdict}".rstrip()
    print(f"{folder / script.SCRIPT}: {counted(repro.commands, 'command')}, {duration(repro.seconds)}, {ratio}")
    if args.shrink and not shrink.is_shown(repro.finding.interval, difference.interval):
        raise CommandError("the last run does not show the difference again: give it more time by `--within`", FAILED)
    return FINE


def _seconds(text: str) -> float:
    from stepgrid.model.units import UnitError, quantity

    try:
        return float(quantity(text, "duration"))
    except UnitError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
