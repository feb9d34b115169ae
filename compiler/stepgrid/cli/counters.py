"""stepgrid counters SPEC [CELL …]: by how much the counters of servers grew over steps and around probes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stepgrid.cli.shared import cell_selection
from stepgrid.cli.shared.cell_selection import SelectionError
from stepgrid.errors import FINE, USAGE
from stepgrid.language.problems import nearest
from stepgrid.model.plan import Plan, PlannedCell
from stepgrid.model.table import NOTHING, Table
from stepgrid.plan.arms import arms
from stepgrid.summarize.formats import FORMATS, json_format
from stepgrid.workflow import host_plan

PUBLISHED, LAYOUT = "published", "counters"
TOP = 10
Growth = Mapping[str, Mapping[str, float]]  # cell -> counter -> by how much it grew


def arguments(parser: argparse.ArgumentParser) -> None:
    cell_selection.arguments(parser, "a cell's id, or labels that single it out; ratios are to the first (all cells)")
    parser.add_argument("--step", action="append", default=[], metavar="NAME", help="of this step (all steps)")
    parser.add_argument(
        "--probe", action="append", default=[], metavar="NAME", help="around this probe (over the steps themselves)"
    )
    parser.add_argument("--name", action="append", default=[], metavar="PATTERN", help="of these counters: Handler_*")
    parser.add_argument("--top", type=int, default=TOP, metavar="N", help=f"those that grew most ({TOP})")
    parser.add_argument("--format", choices=(*FORMATS, PUBLISHED), default="text", help="the output format (text)")


def run(args: argparse.Namespace) -> int:
    plan = cell_selection.plan_of(args)
    if isinstance(plan, int):
        return plan
    try:
        cells = cell_selection.cells_of(plan, args.cells)
        cell_selection.check_steps(plan, args.step)
        parts = list(_parts(args, plan, cells))
    except SelectionError as wrong:
        return cell_selection.refused(wrong)
    if not parts:
        print("no counter grew there: `stepgrid results` lists what is measured", file=sys.stderr)
        return USAGE
    print(json_format.joined(parts) if args.format == "json" else "\n".join(parts), end="")
    return FINE


def _parts(args: argparse.Namespace, plan: Plan, cells: Sequence[PlannedCell]) -> Iterator[str]:
    from stepgrid.collect import query
    from stepgrid.collect.step_figures import ENGINE

    folder = _tables(args, plan)
    _check_probes(args.probe, query.counter_places(folder))
    wanted = query.CounterFilter(args.step, args.probe or [ENGINE], args.name)
    found = query.counter_growth(folder, [cell.id for cell in cells], wanted)
    labels = _labels(plan, cells)
    for (step, source), of in found.items():
        what = step if source == ENGINE else f"{step}, around {source}"
        yield from _shown(what, {labels[cell]: of[cell] for cell in of}, args)


def _tables(args: argparse.Namespace, plan: Plan) -> Path:
    folder = host_plan.store().tables(plan.digest)
    if not (folder / "steps.parquet").is_file():
        raise SelectionError(f"{args.spec} has no tables yet: `stepgrid run {args.spec}` makes them")
    return folder


def _check_probes(named: Sequence[str], there: Mapping[str, Sequence[str]]) -> None:
    for probe in named:
        if probe not in there:
            raise SelectionError(f"nothing was counted around a probe `{probe}`: {nearest(probe, there)}")


def _labels(plan: Plan, cells: Sequence[PlannedCell]) -> dict[str, str]:
    """Of each cell, on the axes on which these differ."""
    axes = arms(plan.axes, [cell.labels for cell in cells], {"base": {}, "tables": (), "claims": ()})
    known = [axis.name for axis in axes if len({cell.labels.get(axis.name) for cell in cells}) > 1]
    return {cell.id: ", ".join(cell.labels[name] for name in known if name in cell.labels) or "grown" for cell in cells}


def _shown(what: str, grown: Growth, args: argparse.Namespace) -> Iterator[str]:
    from stepgrid.plugins.layout import Block, LayoutCell
    from stepgrid.plugins.registry import LAYOUTS

    spots = {(row, 0): LayoutCell(values) for row, values in enumerate(grown.values())}
    block = Block(what, tuple((label,) for label in grown), spots=spots, counters=("*",), top=args.top)
    tables = LAYOUTS.get(LAYOUT).tables(block)
    if args.format != PUBLISHED:
        yield from map(FORMATS[args.format], tables)
    elif tables:
        yield "".join(f"{line}\n" for line in _published(what, list(grown), tables))


def _published(what: str, labels: Sequence[str], tables: Sequence[Table]) -> Iterator[str]:
    """As published: the difference, two tabs and the name; then the ratios to the first cell, and the name."""
    grown, *relative = ([[cell.text for cell in row] for row in table.rows] for table in tables)
    for column, label in enumerate(labels, 1):
        yield f"# {what}, {label}" if relative else f"# {what}"
        yield from (f"{row[column]}\t\t{row[0]}" for row in grown if row[column] != NOTHING)
    for rows in relative:
        yield f"# {what}, relative to {labels[0]}: {', '.join(labels[1:])}"
        yield from ("\t".join(row) for row in rows)
