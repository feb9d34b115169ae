"""stepgrid parse KIND FILE: every figure of an output that people already have, without a spec."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.cli.parse import figure_table
from stepgrid.errors import FINE, USAGE
from stepgrid.language.problems import nearest
from stepgrid.model.figures import BUCKET, ParseError, PrintedStep, rows
from stepgrid.plugins.driver import StandaloneOutput
from stepgrid.plugins.metrics import unit
from stepgrid.plugins.registry import DRIVERS, driver
from stepgrid.summarize.formats import json_text
from stepgrid.summarize.formats.csv_format import delimited_text

FORMATS = ("table", "csv", "json")
COLUMNS = ("step", "name", "metric", "value", "unit")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="the kind of program that wrote the output, such as db_bench")
    parser.add_argument("file", metavar="FILE", type=Path, help="the output of one run, or of several runs in one file")
    parser.add_argument("--format", choices=FORMATS, default="table", help="json has everything")


def run(args: argparse.Namespace) -> int:
    try:
        steps = _reader(args.kind).printed(args.file)
    except (ParseError, LookupError) as wrong:
        print(wrong.args[0], file=sys.stderr)
        return USAGE
    except (ValueError, ArithmeticError, RecursionError) as wrong:  # a number of too many digits, say
        print(f"{args.file} cannot be read: {str(wrong).partition(':')[0]}", file=sys.stderr)
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


def _reader(kind: str) -> StandaloneOutput:
    readable = [name for name in DRIVERS.names() if isinstance(driver(name), StandaloneOutput)]
    if kind not in readable:
        what = "outputs of kind" if kind in DRIVERS.names() else "there is no kind"
        why = f"{what} `{kind}`{' are not read by themselves' if kind in DRIVERS.names() else ''}"
        raise LookupError(f"{why}\n   = {nearest(kind, readable)}")
    found = driver(kind)
    assert isinstance(found, StandaloneOutput)
    return found


def _text(form: str, path: Path, steps: Sequence[PrintedStep]) -> str:
    if form == "json":
        return as_json(path, steps)
    return as_csv(steps) if form == "csv" else figure_table.text(path, steps)


def as_csv(steps: Sequence[PrintedStep]) -> str:
    rows = [
        (number, step.name, metric, value, unit(metric))
        for number, step in enumerate(steps, 1)
        for metric, value in step.figures.metrics.items()
    ]
    return delimited_text([COLUMNS, *rows])


def as_json(path: Path, steps: Sequence[PrintedStep]) -> str:
    found = {"file": str(path), "steps": [_step(number, step) for number, step in enumerate(steps, 1)]}
    return json_text.text(found) + "\n"


def _step(number: int, step: PrintedStep) -> Mapping[str, Any]:
    found = step.figures
    return {
        "step": number,
        "name": step.name,
        "metrics": {name: {"value": value, "unit": unit(name)} for name, value in found.metrics.items()},
        "facts": dict(found.facts),
        "warnings": list(found.warnings),
        "series": [{"second": second, "qps": qps} for second, qps in found.qps],
        "histograms": [dict(zip(BUCKET, each, strict=True)) for each in rows(found.histograms)],
        "latencies": [dict(each) for each in found.latencies],
        "levels": [dict(level) for level in found.levels],
        "file_reads": [dict(each) for each in found.file_reads],
        "counters": dict(found.counters),
        "rates": [each._asdict() for each in found.rates],
    }
