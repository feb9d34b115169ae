"""stepgrid counters and flame: why a cell differs."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from stepgrid.cli.failures import CommandError
from stepgrid.cli.output import add_output, write_output
from stepgrid.cli.spec_arguments import (
    SPEC_HELP,
    add_cells,
    add_narrowing,
    check_steps,
    quiet_plan,
    select_cell,
    select_cells,
    spec_request,
)
from stepgrid.collect.counts import profiled_cpu
from stepgrid.collect.query import open_tables
from stepgrid.collect.result_figures import stored_figures
from stepgrid.collect.step_figures import ENGINE, StepFigures
from stepgrid.errors import FINE
from stepgrid.host import files
from stepgrid.language.problems import nearest
from stepgrid.model.plan import Plan, PlannedCell, PlannedReport
from stepgrid.model.table import NOTHING, Table
from stepgrid.model.units import mean
from stepgrid.plan.actions import arms
from stepgrid.plugins.collector import RECORDED, ComparingCollector, Recording
from stepgrid.plugins.layout import Block, LayoutCell
from stepgrid.plugins.registry import COLLECTORS, LAYOUTS
from stepgrid.store.paths import STEPS_TABLE
from stepgrid.store.store import Store
from stepgrid.summarize.formats import FORMATS, join_json
from stepgrid.workflow import host_plan

PUBLISHED, LAYOUT = "published", "counters"
SHOWN_COUNTERS = 10
Growth = Mapping[str, Mapping[str, float]]  # cell -> counter -> growth


def add_counters_arguments(parser: argparse.ArgumentParser) -> None:
    add_cells(parser, "a cell's id, or labels that single it out; ratios are to the first (all cells)")
    parser.add_argument("--step", action="append", default=[], metavar="NAME", help="only this step (all steps)")
    parser.add_argument(
        "--probe", action="append", default=[], metavar="NAME", help="only around this probe (over whole steps)"
    )
    parser.add_argument(
        "--name", action="append", default=[], metavar="PATTERN", help="only counters that match, such as Handler_*"
    )
    parser.add_argument(
        "--top", type=int, default=SHOWN_COUNTERS, metavar="N", help=f"the N that grew most ({SHOWN_COUNTERS})"
    )
    parser.add_argument("--format", choices=(*FORMATS, PUBLISHED), default="text", help="the output format (text)")


def run_counters(args: argparse.Namespace) -> int:
    plan = quiet_plan(args)
    cells = select_cells(plan, args.cells)
    check_steps(plan, args.step)
    parts = list(_counter_tables(args, plan, cells))
    if not parts:
        raise CommandError("no counter grew there: `stepgrid results` lists what is measured")
    print(join_json(parts) if args.format == "json" else "\n".join(parts), end="")
    return FINE


def _counter_tables(args: argparse.Namespace, plan: Plan, cells: Sequence[PlannedCell]) -> Iterator[str]:
    folder = host_plan.store().tables(plan.digest)
    if not (folder / STEPS_TABLE).is_file():
        words = shlex.join(spec_request(args).words(args.site))
        raise CommandError(f"{args.spec} has no tables yet: `stepgrid run {words}` makes them")
    probes = counter_places(folder)
    for probe in args.probe:
        if probe not in probes:
            raise CommandError(f"nothing was counted around a probe `{probe}`: {nearest(probe, probes)}")
    wanted = CounterFilter(args.step, args.probe or [ENGINE], args.name)
    labels = _distinct_labels(plan, cells)
    for (step, source), growth in counter_growth(folder, [cell.id for cell in cells], wanted).items():
        title = step if source == ENGINE else f"{step}, around {source}"
        yield from _growth_tables(title, {labels[cell]: growth[cell] for cell in growth}, args)


def _distinct_labels(plan: Plan, cells: Sequence[PlannedCell]) -> dict[str, str]:
    """Label each cell on the axes on which these cells differ."""
    axes = arms(plan.axes, [cell.labels for cell in cells], PlannedReport())
    names = [axis.name for axis in axes if len({cell.labels.get(axis.name) for cell in cells}) > 1]
    return {cell.id: ", ".join(cell.labels[name] for name in names if name in cell.labels) or "grown" for cell in cells}


def _growth_tables(title: str, growth: Growth, args: argparse.Namespace) -> Iterator[str]:
    spots = {(row, 0): LayoutCell(values) for row, values in enumerate(growth.values())}
    block = Block(title, tuple((label,) for label in growth), spots=spots, counters=("*",), top=args.top)
    tables = LAYOUTS.get(LAYOUT).tables(block)
    if args.format != PUBLISHED:
        yield from map(FORMATS[args.format], tables)
    elif tables:
        yield "".join(f"{line}\n" for line in _published_lines(title, list(growth), tables))


def _published_lines(title: str, labels: Sequence[str], tables: Sequence[Table]) -> Iterator[str]:
    """Write as published scripts do: the difference, two tabs, the name; then the ratios to the first cell."""
    differences, *ratios = ([[cell.text for cell in row] for row in table.rows] for table in tables)
    for column, label in enumerate(labels, 1):
        yield f"# {title}, {label}" if ratios else f"# {title}"
        yield from (f"{row[column]}\t\t{row[0]}" for row in differences if row[column] != NOTHING)
    for rows in ratios:
        yield f"# {title}, relative to {labels[0]}: {', '.join(labels[1:])}"
        yield from ("\t".join(row) for row in rows)


def add_flame_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument("cell", metavar="CELL", help="a cell's id, or labels that single it out")
    parser.add_argument("base", metavar="BASE", help="the cell to compare with")
    parser.add_argument("--step", metavar="NAME", help="the step (the first with recordings of both cells)")
    add_output(parser, "the SVG to write (default: print it)")
    add_narrowing(parser)


def run_flame(args: argparse.Namespace) -> int:
    from stepgrid.summarize.report_files import current_report

    plan, store = quiet_plan(args), host_plan.store()
    cell, base = select_cell(plan, args.cell), select_cell(plan, args.base)
    current_report(store, plan)  # the number of operations
    for step in cell.steps:
        for name in COLLECTORS.names() if args.step in (None, step.name) else ():
            collector = COLLECTORS.get(name)
            of_cell, of_base = (list(_recordings(store, plan, side, step.name, name)) for side in (cell, base))
            if isinstance(collector, ComparingCollector) and of_cell and of_base:
                title = f"{step.name}, {args.cell} against {args.base}"
                write_output(collector.compared(of_cell, of_base, title), args.output, args.replace)
                return FINE
    subject = f"of step `{args.step}`" if args.step else "of one step"
    hint = "`collectors: [{collector: perf_record}]` makes them"
    raise CommandError(f"no recordings {subject} in both cells: {hint}")


def _recordings(store: Store, plan: Plan, cell: PlannedCell, step_name: str, collector: str) -> Iterator[Recording]:
    """Yield the recordings of each load and run."""
    step = next((step for step in cell.steps if step.name == step_name), None)
    stages = {stage.id: stage for stage in plan.stages}
    measured = dict.fromkeys(repeat.stages[step.stage] for repeat in cell.repeats) if step else {}
    profiles = plan.profile.stages if plan.profile else {}
    for stage in (*measured, *(profiles[stage] for stage in measured if stage in profiles)):
        result = store.result(stage)
        figures = stored_figures(result, stages[stage].steps) if result else None
        if step is None or result is None or figures is None:
            continue
        operations = _recorded_operations(figures.steps[step.index])
        for path in sorted(result.glob(f"steps/{step.index}-*/collectors/*/collector.json")):
            record = files.read_json(path)
            if operations and record.get("collector") == collector:
                yield Recording(path.parent, record, operations)


def _recorded_operations(figures: StepFigures) -> float | None:
    """Count the operations of a recording; of a profile's windows those that took as much CPU as they."""
    times = {name: count for _, name, count in figures.counts}
    recorded, cpu = times.get(RECORDED), profiled_cpu(times, figures.metrics)
    return recorded / cpu if recorded is not None and cpu else figures.metrics.get("operations")


# By how much counters grew in the cells of a plan, over a step or around a probe.

Place = tuple[str, str]  # step, and engine or the probe
_QUERY = """
SELECT s.step, c.source, s.cell, c.name, min(s.position) AS place, list(c.grown), list(DISTINCT s.stage)
FROM counters AS c JOIN steps AS s USING (stage, attempt, position)
GROUP BY s.step, c.source, s.cell, c.name ORDER BY place, s.step, c.source, c.name
"""


class CounterFilter(NamedTuple):
    """Patterns; none stands for all."""

    steps: Sequence[str] = ()
    sources: Sequence[str] = ()  # engine, or names of probes
    names: Sequence[str] = ()  # of counters

    def takes(self, step: str, source: str, name: str) -> bool:
        pairs = ((step, self.steps), (source, self.sources), (name, self.names))
        return all(not patterns or any(fnmatchcase(value, p) for p in patterns) for value, patterns in pairs)


def counter_growth(
    folder: Path, cells: Sequence[str], wanted: CounterFilter
) -> dict[Place, dict[str, dict[str, float]]]:
    """Step and source -> cell -> counter -> growth, the mean of the loads; cells with the same runs are one."""
    growth: dict[Place, dict[str, dict[str, float]]] = {}
    runs: dict[tuple[Place, tuple[str, ...]], str] = {}
    with open_tables(folder) as connection:
        rows = connection.execute(_QUERY).fetchall()
    order = {cell: index for index, cell in enumerate(cells)}
    for step, source, cell, name, _, values, stages in sorted(rows, key=lambda row: order.get(row[2], 0)):
        if cell in order and wanted.takes(step, source, name):
            first = runs.setdefault(((step, source), tuple(sorted(stages))), cell)
            if first == cell:
                growth.setdefault((step, source), {}).setdefault(cell, {})[name] = mean(values)
    return growth


def counter_places(folder: Path) -> Mapping[str, Sequence[str]]:
    """Source -> the steps that it is of."""
    with open_tables(folder) as connection:
        rows = connection.execute("SELECT source, list(DISTINCT step) FROM counters GROUP BY source").fetchall()
    return {source: sorted(steps) for source, steps in rows}
