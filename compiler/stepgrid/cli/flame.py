"""stepgrid flame SPEC CELL BASE: where a cell's CPU goes that its base's does not, as a differential flame graph."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from stepgrid.cli.compare import put
from stepgrid.cli.shared import spec_arguments
from stepgrid.cli.shared.cell_selection import SelectionError, found, plan_of, refused
from stepgrid.host import files
from stepgrid.model.plan import Plan, PlannedCell
from stepgrid.plugins.collector import ComparingCollector, Recording
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan

RECORDS = "collectors/*/collector.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a spec file, such as specs/quickstart.yaml")
    parser.add_argument("cell", metavar="CELL", help="a cell's id, or labels that single it out")
    parser.add_argument("base", metavar="BASE", help="the cell that it is compared with")
    parser.add_argument("--step", metavar="NAME", help="of this step (the first that was recorded in both)")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="the SVG to write (default: print it)")
    spec_arguments.narrowing(parser)


def run(args: argparse.Namespace) -> int:
    plan = plan_of(args)
    if isinstance(plan, int):
        return plan
    try:
        text = _graph(plan, args)
    except SelectionError as wrong:
        return refused(wrong)
    return put(text, args.output)


def _graph(plan: Plan, args: argparse.Namespace) -> str:
    from stepgrid.plugins.registry import COLLECTORS
    from stepgrid.summarize.refresh import current

    cell, base, store = found(plan, args.cell), found(plan, args.base), host_plan.store()
    current(store, plan)  # how many operations there were
    for step in cell.steps:
        if args.step in (None, step.name):
            for name in COLLECTORS.names():
                collector = COLLECTORS.get(name)
                both = [list(_recordings(store, plan, arm, step.name, name)) for arm in (cell, base)]
                if isinstance(collector, ComparingCollector) and all(both):
                    return collector.compared(both[0], both[1], f"{step.name}, {args.cell} against {args.base}")
    of = f"of step `{args.step}`" if args.step else "of one step"
    raise SelectionError(f"no recordings {of} in both cells: `collectors: [{{collector: perf_record}}]` makes them")


def _recordings(store: Store, plan: Plan, cell: PlannedCell, name: str, collector: str) -> Iterator[Recording]:
    """Of each load and run."""
    from stepgrid.collect.step_figures import stored_figures

    step = next((step for step in cell.steps if step.name == name), None)
    stages = {stage.id: stage for stage in plan.stages}
    for stage in dict.fromkeys(repeat.stages[step.stage] for repeat in cell.repeats) if step else ():
        result = store.result(stage)
        figures = stored_figures(result, stages[stage].steps) if result else None
        if step is None or result is None or figures is None:
            continue
        operations = figures.steps[step.index].metrics.get("operations")
        for path in sorted(result.glob(f"steps/{step.index}-*/{RECORDS}")):
            record = files.read_json(path)
            if operations and record.get("collector") == collector:
                yield Recording(path.parent, record, operations)
