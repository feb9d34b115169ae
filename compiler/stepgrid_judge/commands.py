"""stepgrid judge: verdicts for figures of other tools."""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from glob import glob
from pathlib import Path

import re2

from stepgrid.cli.failures import CommandError
from stepgrid.cli.output import add_output, check_gate, gate_status, read_gate, write_output
from stepgrid.cli.spec_arguments import add_gate
from stepgrid.errors import FINE
from stepgrid.host.terminal_output import Paint
from stepgrid.language.problems import nearest
from stepgrid.model.plan import SMALLEST_EFFECT
from stepgrid.model.records import replace
from stepgrid.model.units import counted, percent
from stepgrid.store.store import brief_width
from stepgrid.summarize.gate import ALL_STEPS, Gate
from stepgrid_judge.figures import Judged, JudgeRequest, judge, judge_figures, list_figures, name_arms
from stepgrid_judge.readers import HIGHER, LOWER, Columns, ForeignFile, read

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
    parser.add_argument("--how", nargs="?", const="", metavar="TOOL", help="print the loop that gives good loads")
    parser.add_argument("--all", action="store_true", help="list everything, not only what differs")
    parser.add_argument("--format", choices=FORMATS, default="text", help="the output format (text)")
    add_output(parser)


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add what says how files are read."""
    parser.add_argument("--arm", metavar="COL", default="", help="of a table: the column of arms")
    parser.add_argument("--step", metavar="COL", default="", help="of a table: the column of benchmarks")
    parser.add_argument("--load", metavar="COL", default="", help="of a table: the column of loads")
    parser.add_argument("--axis", metavar="COL", action="append", default=[], help="of a table: a column of labels")
    parser.add_argument("--metric", metavar="NAME", default="", help="the metric (the first)")
    parser.add_argument("--better", choices=(HIGHER, LOWER), default="", help="which direction of the metric is better")
    parser.add_argument(
        "--pattern", metavar="REGEX", help="of a text: the number, as group 1 or `value`; `step` names it"
    )


def judge_request(args: argparse.Namespace, effect: float) -> JudgeRequest:
    return JudgeRequest(getattr(args, "base", ""), args.metric, args.better, (), effect)


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
    write_output(_text(judged, args.format, gate, args.all), args.output, args.replace)
    return gate_status(judged.report, gate)


def read_files(args: argparse.Namespace, words: Sequence[str]) -> Iterator[tuple[str, ForeignFile]]:
    """Read the named files; a name with `*` that the shell has not expanded is a pattern."""
    if not words:
        raise CommandError("which files? `stepgrid judge old=old-*.json new=new-*.json`; `--how` says how to make them")
    columns = Columns(args.arm, args.step, args.load, args.metric, tuple(args.axis))
    pattern = None
    if args.pattern is not None:
        try:
            re.compile(args.pattern)  # whose message is the better one
            pattern = re2.compile(f"(?m){args.pattern}")  # in linear time, whatever it is
        except (re.error, re2.error) as error:
            raise CommandError(f"--pattern: {error}") from None
    for word in words:
        arm, equals, path = word.partition("=")
        if not equals or Path(word).exists():
            arm, path = "", word
        is_pattern = not Path(path).exists() and set(path) & set("*?[")
        paths = sorted(glob(path)) if is_pattern else [path]  # noqa: PTH207 - Path.glob takes no absolute pattern
        if not paths:
            raise CommandError(f"no file is called {path}")
        for name in paths:
            yield arm, read(Path(name), columns, pattern)


def _text(judged: Judged, form: str, gate: Gate, is_whole: bool) -> str:
    from stepgrid.summarize import ci_formats, report_formats
    from stepgrid.summarize.summary_text import brief_lines

    report = judged.report
    match form:
        case "text" if not is_whole:
            lines = brief_lines(report, None, brief_width(sys.stdout), Paint.for_stream(sys.stdout))
            return "".join(f"{line}\n" for line in lines)
        case "json":
            return report_formats.report_json(report)
        case "markdown":
            return report_formats.markdown(report, has_chart=False)
        case "junit":
            return ci_formats.junit(report, gate)
    return report_formats.report_text(report, form, None)


# How often equal arms would be called different


def _null_text(files: Sequence[tuple[str, ForeignFile]], question: JudgeRequest) -> str:
    """Split the loads of the base at random into two arms, again and again, and count the false alarms."""
    arms = name_arms(files)
    figures = list_figures(arms, question)
    base = question.base or figures[0].arm
    base_figures = [figure for figure in figures if figure.arm == base]
    loads = sorted({figure.load for figure in base_figures})
    if len(loads) < FEWEST_TO_SPLIT:
        raise CommandError(f"--null needs at least {FEWEST_TO_SPLIT} loads of an arm; `{base}` has {len(loads)}")
    source, better = random.Random(1), question.better or files[0][1].samples[0].better
    points = false_reports = rule_reports = rule_points = false_points = 0
    for _ in range(SPLITS):
        chosen = set(source.sample(loads, len(loads) // 2))
        split = [figure._replace(arm="one" if figure.load in chosen else "other") for figure in base_figures]
        judged = judge_figures(split, replace(question, base="one", better=better), files[0][1].samples[0])
        entries = [case.entry for comparison in judged.report.comparisons.leading for case in comparison.cases()]
        false = sum(entry.is_difference and not entry.perhaps for entry in entries)
        red = sum(entry.ratio is not None and abs(entry.ratio - 1) > RULE for entry in entries)
        points += len(entries)
        false_reports, false_points = false_reports + bool(false), false_points + false
        rule_reports, rule_points = rule_reports + bool(red), rule_points + red
    return (
        f"{base}: {counted(len(loads), 'load')} split at random {SPLITS} times, "
        f"{counted(points // SPLITS, 'comparison')} each\n"
        f"  this program  {false_reports} of {SPLITS} reports name a difference ({percent(false_reports / SPLITS)}), "
        f"{false_points} of {points:,} comparisons\n"
        f"  a rule of {percent(RULE)}  {rule_reports} of {SPLITS} reports ({percent(rule_reports / SPLITS)}), "
        f"{rule_points:,} of {points:,} comparisons\n"
    )


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
