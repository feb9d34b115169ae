"""stepgrid parse KIND FILE: every figure of an output that people already have, without a spec."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.cli.parse import figure_table, records
from stepgrid.language.problems.problem import nearest
from stepgrid.model.figures import ParseError
from stepgrid.plugins.driver import Printed
from stepgrid.plugins.drivers import driver, kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepgrid.model.figures import PrintedStep

FINE, USAGE = 0, 2
FORMATS = ("table", "csv", "json")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="what made the output, such as db_bench")
    parser.add_argument("file", metavar="FILE", type=Path, help="its output: one run, or many one after the other")
    parser.add_argument("--format", choices=FORMATS, default="table", help="json has everything")


def run(args: argparse.Namespace) -> int:
    try:
        steps = _reader(args.kind).printed(args.file)
    except (ParseError, LookupError) as wrong:
        print(wrong.args[0], file=sys.stderr)
        return USAGE
    sys.stdout.write(_text(args.format, args.file, steps))
    if args.format == "csv":
        _tell_what_has_no_line(steps)
    return FINE


def _tell_what_has_no_line(steps: Sequence[PrintedStep]) -> None:
    """A run that failed would else look like no run."""
    for number, step in enumerate(steps, 1):
        if not step.figures.metrics:
            print(f"step {number}, {step.name}: {'; '.join(step.figures.warnings) or 'no figures'}", file=sys.stderr)


def _reader(kind: str) -> Printed:
    readable = [name for name in kinds() if isinstance(driver(name), Printed)]
    if kind not in readable:
        what = "outputs of kind" if kind in kinds() else "there is no kind"
        why = f"{what} `{kind}`{' are not read by themselves' if kind in kinds() else ''}"
        raise LookupError(f"{why}\n   = {nearest(kind, readable)}")
    found = driver(kind)
    assert isinstance(found, Printed)
    return found


def _text(form: str, path: Path, steps: Sequence[PrintedStep]) -> str:
    if form == "json":
        return records.as_json(path, steps)
    return records.as_csv(steps) if form == "csv" else figure_table.text(path, steps)
