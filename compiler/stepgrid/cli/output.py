"""Output of commands: files, rows as tables or data, and the exit status of failed claims."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.cli.failures import CommandError
from stepgrid.cli.spec_arguments import FAILS, UNDECIDED, parse_quantity
from stepgrid.errors import CLAIM_FAILED, FAILED, FINE
from stepgrid.host import products
from stepgrid.language.problems import nearest
from stepgrid.model.table import NOTHING, Cell, Column, Table
from stepgrid.model.units import percent
from stepgrid.summarize import formats
from stepgrid.summarize.formats import COMMA, TAB, delimited_text, markdown_table, text_lines
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.model.plan import Plan
    from stepgrid.summarize.gate import Gate
    from stepgrid.summarize.report import Report

WIDTH = 100  # columns of text that is not made for the width of a terminal
ROW_FORMATS = ("text", "csv", "tsv", "json", "markdown")
_FORMATS_BY_ENDING = {".md": "markdown"}
Rows = Sequence[Sequence[Any]]


def add_output(parser: argparse.ArgumentParser, summary: str = "the file to write (default: print it)") -> None:
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help=summary)
    add_replace(parser)


def add_replace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        products.REPLACE, action="store_true", help="replace a file that stepgrid did not write, or that was changed"
    )


def write_output(content: str, output: Path | None, is_replaced: bool) -> None:
    """Print the text, or write it to a file."""
    if output is None:
        print(content, end="")
    else:
        write_file(lambda file: file.write_text(content, encoding="utf-8"), output, is_replaced)


def write_file(write: Callable[[Path], object], output: Path, is_replaced: bool) -> None:
    """Write the file that a user named, unless something is there that is not ours."""
    try:
        products.write_file(output, write, host_plan.store().output_notes(), is_replaced)
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror or error}", FAILED) from error


def format_of(path: Path | None, formats: Collection[str], usual: str) -> str:
    """Return the format that the ending of a file's name stands for: a.csv -> csv."""
    ending = path.suffix.lower() if path else ""
    name = _FORMATS_BY_ENDING.get(ending, ending.removeprefix("."))
    return name if name in formats else usual


def check_folder(path: Path) -> None:
    """Refuse a file that cannot be written, before its content is made."""
    if not path.parent.is_dir():
        raise CommandError(f"there is no folder {path.parent} to write {path.name} to")


def format_rows(form: str, names: Sequence[str], rows: Rows) -> str:
    """Write rows in one of ROW_FORMATS; a missing value is `-`, empty or null."""
    match form:
        case "json":
            return formats.json_text([dict(zip(names, row, strict=True)) for row in rows]) + "\n"
        case "csv" | "tsv":
            return delimited_text(chain([names], (map(_exact, row) for row in rows)), TAB if form == "tsv" else COMMA)
        case "markdown":
            return markdown_table(_table(names, rows))
    return "".join(f"{line}\n" for line in text_lines(_table(names, rows), indent="", width=sys.maxsize))


def _table(names: Sequence[str], rows: Rows) -> Table:
    """Make a table in which columns of numbers are aligned to the right."""
    columns = []
    for index, name in enumerate(names):
        values = [row[index] for row in rows if row[index] is not None]
        is_numeric = bool(values) and all(isinstance(value, int | float | Decimal) for value in values)
        columns.append(Column(name, label=not is_numeric))
    return Table("", tuple(columns), tuple(tuple(Cell(_rounded(value)) for value in row) for row in rows))


def _rounded(value: Any) -> str:
    if value is None:
        return NOTHING
    return f"{value:.10g}" if isinstance(value, float) else str(_exact(value))


def _exact(value: Any) -> Any:
    """Return a value as text, and a number with all of its digits."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict | tuple):
        return formats.json_text(value, indent=None)
    return value.isoformat(" ") if isinstance(value, datetime) else value


def read_gate(args: argparse.Namespace) -> Gate:
    """Read --fail-on and --smallest-effect."""
    from stepgrid.summarize.gate import ALL_STEPS, CONDITIONS, Condition, Gate

    conditions: list[Condition] = []
    effects: dict[str, float] = {}
    for text in args.fail_on:
        result, *steps = text.split(",")
        if result not in CONDITIONS or "" in steps:  # a step that is empty would match none, and never refuse
            raise CommandError(f"--fail-on {text}: expected {', '.join(CONDITIONS)}, and steps behind a comma")
        conditions.append(Condition(result, frozenset(steps)))
    for text in args.smallest_effect:
        word, *steps = text.split(",")
        share = float(parse_quantity(word, "percent")) / 100
        if not 0 <= share < 1 or "" in steps:
            raise CommandError(f"--smallest-effect {text}: expected 0% to 99%, and steps behind a comma")
        effects |= dict.fromkeys(steps or [ALL_STEPS], share)
    return Gate(tuple(conditions), effects)


def check_gate(gate: Gate, plan: Plan) -> None:
    """Refuse a step that is not measured, whose condition would never be met, and an effect that changes nothing."""
    steps = {step.step or step.name for cell in plan.cells for step in cell.steps if step.measured}
    for step in sorted(gate.steps - steps):
        raise CommandError(f"no measured step is called `{step}`: {nearest(step, steps)}")
    least = plan.report.smallest_effect
    for step, effect in gate.effects.items():
        if effect < least:
            name = f"--smallest-effect {percent(effect)}{f',{step}' if step else ''}"
            raise CommandError(
                f"{name}: smaller than that of the report, {percent(least)}, which has no verdict below it"
            )


def gate_status(report: Report, gate: Gate, strict: str | None = None) -> int:
    """Print the comparisons that `--fail-on` refuses and the claims that `--strict` does; return the exit status."""
    from stepgrid.summarize.gate import gate_cases

    cases = list(gate_cases(report, gate))
    refused = [case for case in cases if case.is_refused]
    for case in (case for case in cases if case.is_accepted):
        print(f"passes --fail-on: {case.name}: {case.text}", file=sys.stderr)
    for case in refused:
        print(f"--fail-on: {case.name}: {case.text}", file=sys.stderr)
    return claim_status(report, strict) or (CLAIM_FAILED if refused else FINE)


def claim_status(report: Report, strict: str | None) -> int:
    """Print the claims that `--strict` does not allow, and return the exit status."""
    refused = {FAILS: (FAILS,), UNDECIDED: (FAILS, UNDECIDED)}.get(strict or "", ())
    claims = [claim for claim in report.comparisons.claims if claim.result in refused]
    for claim in sorted(claims, key=lambda claim: refused.index(claim.result)):
        verdict = "fails" if claim.result == FAILS else "is undecided"
        print(f"this claim {verdict}: {claim.claim}", file=sys.stderr)
    return CLAIM_FAILED if claims else FINE
