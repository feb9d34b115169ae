"""stepgrid judge: verdicts for figures of other tools."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from stepgrid.cli.failures import CommandError
from stepgrid.cli.output import add_output, check_gate, gate_status, read_gate, write_output
from stepgrid.cli.spec_arguments import add_gate
from stepgrid.errors import FINE, PROBLEMS
from stepgrid.host.terminal_output import Paint
from stepgrid.language.problems import Problems, format_problems, nearest
from stepgrid.model.plan import SMALLEST_EFFECT
from stepgrid.model.records import replace
from stepgrid.model.units import counted, percent
from stepgrid.store.store import brief_width
from stepgrid.summarize.gate import ALL_STEPS, Gate
from stepgrid.summarize.report import Report, adjust
from stepgrid_judge.figures import JudgeRequest, LoadFigure, judge, judge_figures, list_figures, name_arms
from stepgrid_judge.file_arguments import add_columns, judge_request, read_files
from stepgrid_judge.memory import NOTES, Note, add_notes
from stepgrid_judge.readers import ForeignFile, Sample

FORMATS = ("text", "markdown", "html", "json", "csv", "junit")
SPLITS, FEWEST_TO_SPLIT = 200, 4
RULE = 0.05  # that --null compares false_reports with: red where a mean moved by more


def add_judge_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="[ARM=]FILE", help="figures; several files of one arm are its loads"
    )
    add_columns(parser)
    parser.add_argument("--base", metavar="ARM", default="", help="the arm to compare with (the first)")
    add_gate(parser, "what counts as a difference (2%%)")
    parser.add_argument("--null", action="store_true", help="how often equal arms would be called different")
    parser.add_argument(
        "--how",
        nargs="?",
        const="",
        metavar="TOOL",
        help="print a shell loop that measures the arms in turn, with this tool (all)",
    )
    parser.add_argument("--all", action="store_true", help="list everything, not only what differs")
    parser.add_argument("--format", choices=FORMATS, default="text", help="the output format (text)")
    add_output(parser)


def run_judge(args: argparse.Namespace) -> int:
    if args.how is not None:
        print(how(args.how), end="")
        return FINE
    gate = read_gate(args)
    effect = gate.effects.get(ALL_STEPS, SMALLEST_EFFECT)
    question = judge_request(args, effect)
    files = list(read_files(args, args.files))
    if args.null:
        print(_null_text(files, question), end="")
        return FINE
    judged = judge(files, question)
    check_gate(gate, judged.plan)
    report = adjust(judged.report, partial(add_notes, notes=_notes()))
    write_output(_text(report, args.format, gate, args.all), args.output, args.replace)
    return gate_status(report, gate)


def _notes() -> list[Note]:
    """Read notes.yaml of the current folder; a fault ends the command."""
    if not Path(NOTES).is_file():
        return []
    from stepgrid_judge.notes_file import read_notes  # pydantic takes a while to import

    problems = Problems()
    notes = read_notes(Path(NOTES), problems)
    if problems.errors:
        raise CommandError(format_problems(problems.errors), PROBLEMS)
    return notes


def _text(report: Report, form: str, gate: Gate, is_whole: bool) -> str:
    from stepgrid.summarize.report_formats import report_text
    from stepgrid.summarize.summary_text import brief_lines
    from stepgrid_page.markdown_post import markdown

    if form == "text" and not is_whole:
        lines = brief_lines(report, None, brief_width(sys.stdout), Paint.for_stream(sys.stdout))
        return "".join(f"{line}\n" for line in lines)
    if form == "markdown":
        return markdown(report, has_chart=False)
    return report_text(report, form, gate=gate)


# How often equal arms would be called different


class _NullCount(NamedTuple):
    points: int
    false_points: int  # that are called different for certain
    rule_points: int  # whose means are more than RULE apart


def _null_text(files: Sequence[tuple[str, ForeignFile]], question: JudgeRequest) -> str:
    """Split the loads of the base within neighbouring pairs, as loads by turns are, and count the false alarms."""
    arms = name_arms(files)
    figures = list_figures(arms, question)
    base = question.base or figures[0].arm
    base_figures = [figure for figure in figures if figure.arm == base]
    loads = _in_order(base_figures)
    if len(loads) < FEWEST_TO_SPLIT:
        raise CommandError(f"--null needs at least {FEWEST_TO_SPLIT} loads of an arm; `{base}` has {len(loads)}")
    sample = files[0][1].samples[0]
    request = replace(question, base="one", better=question.better or sample.better)
    source, pairs = random.Random(1), list(zip(loads[::2], loads[1::2], strict=False))
    splits = [_count(base_figures, [source.sample(pair, 2) for pair in pairs], request, sample) for _ in range(SPLITS)]
    half = len(loads) // 2
    halves = _count(base_figures, list(zip(loads[:half], loads[-half:], strict=True)), request, sample)
    points, *_ = (sum(column) for column in zip(*splits, strict=True))
    lines = []
    for name, counts in (
        ("this program", [split.false_points for split in splits]),
        (f"a rule of {percent(RULE)}", [split.rule_points for split in splits]),
    ):
        reports = sum(map(bool, counts))
        lines.append(
            f"  {name:<13} {reports} of {SPLITS} reports name a difference ({percent(reports / SPLITS)}), "
            f"{sum(counts):,} of {points:,} comparisons"
        )
    return (
        f"{base}: {counted(len(loads), 'load')}, neighbours split at random {SPLITS} times, "
        f"{counted(points // SPLITS, 'comparison')} each\n"
        + "\n".join(lines)
        + f"\n  not by turns  the first {half} loads against the last {half}: {halves.false_points} of "
        f"{counted(halves.points, 'comparison')}\n"
    )


def _in_order(figures: Sequence[LoadFigure]) -> list[str]:
    """List the loads as they were measured: by the times that the files have, else in their order."""
    moments = {figure.load: figure.moment for figure in figures}
    return sorted(moments, key=moments.__getitem__) if all(moments.values()) else list(moments)


def _count(
    figures: Sequence[LoadFigure], pairs: Sequence[Sequence[str]], request: JudgeRequest, sample: Sample
) -> _NullCount:
    """Judge the first load of each pair against the second."""
    sides = {
        load: side
        for number, pair in enumerate(pairs)
        for load, side in zip(pair, (("one", number), ("other", number)), strict=True)
    }
    split = [
        figure._replace(arm=sides[figure.load][0], load=str(sides[figure.load][1]))
        for figure in figures
        if figure.load in sides
    ]
    report = judge_figures(split, request, sample).report
    entries = [case.entry for comparison in report.comparisons.leading for case in comparison.cases()]
    false = sum(entry.is_difference and not entry.perhaps for entry in entries)
    red = sum(entry.ratio is not None and abs(entry.ratio - 1) > RULE for entry in entries)
    return _NullCount(len(entries), false, red)


# Loops that give good loads: each turn is one load of every arm, in a new process

LOADS = 5

_LOOP = """\
for i in $(seq {loads}); do for arm in $(printf 'old\\nnew\\n' | shuf); do
  {command}
done; done
stepgrid judge {files}
"""

_COMMANDS: Mapping[str, tuple[str, str]] = {  # tool -> command of one load of one arm, words of judge
    "hyperfine": ('hyperfine --warmup 1 --export-json $arm-$i.json "./$arm"', "old=old-*.json new=new-*.json"),
    "google-benchmark": (
        "./$arm/bench --benchmark_out=$arm-$i.json --benchmark_out_format=json",
        "old=old-*.json new=new-*.json",
    ),
    "criterion": (
        "(cd $arm && cargo bench -- --save-baseline load) && cp -r $arm/target/criterion $arm-$i",
        "old=old-* new=new-*",
    ),
    "pytest-benchmark": (
        "(cd $arm && pytest --benchmark-only --benchmark-json=../$arm-$i.json)",
        "old=old-*.json new=new-*.json",
    ),
    "go": ("(cd $arm && go test -bench . -count 1 ./...) > $arm-$i.txt", "old=old-*.txt new=new-*.txt"),
    "jmh": ("java -jar $arm.jar -f 1 -rf json -rff $arm-$i.json", "old=old-*.json new=new-*.json"),
    "pgbench": ("pgbench -h $arm -c 8 -T 60 bench > $arm-$i.txt", "old=old-*.txt new=new-*.txt"),
    "sysbench": ("sysbench --mysql-host=$arm oltp_read_only run > $arm-$i.txt", "old=old-*.txt new=new-*.txt"),
    "command": (
        "./measure $arm > $arm-$i.txt",
        "--pattern 'ops/s: ([0-9.]+)' --better higher old=old-*.txt new=new-*.txt",
    ),
}


def how(tool: str) -> str:
    """Write the loop of a tool, or of all."""
    if tool and tool not in _COMMANDS:
        raise CommandError(f"no loop is known for `{tool}`: {nearest(tool, _COMMANDS)}")
    texts = []
    for name in [tool] if tool else _COMMANDS:
        command, files = _COMMANDS[name]
        loop = _LOOP.format(loads=LOADS, command=command, files=files)
        texts.append(loop if tool else f"# {name}\n{loop}")
    return "\n".join(texts)
