"""stepgrid redo SPEC: the next run measures chosen stages again, beside the results that they have."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from stepgrid.cli.shared import cell_selection
from stepgrid.cli.shared.cell_selection import SelectionError
from stepgrid.host import files
from stepgrid.model.plan import Plan
from stepgrid.model.units import counted
from stepgrid.plan import stage_selection
from stepgrid.store import redo_requests, timestamps
from stepgrid.summarize.formats.text import aligned
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.store.store import Store

SHOWN = 10
NOT_QUIET = "the host was not quiet"  # why, where nothing else is said


def arguments(parser: argparse.ArgumentParser) -> None:
    cell_selection.arguments(parser, "a cell's id, or labels that single it out: cache=lru,threads=1 (all cells)")
    parser.add_argument("--step", action="append", default=[], metavar="NAME", help="only the stages of this step")
    parser.add_argument(
        "--load", action="store_true", help="also the load and all stages of these cells that follow it"
    )
    parser.add_argument(
        "--disturbed",
        action="store_true",
        help="only loads before a stage of which the host was not quiet, each as a whole",
    )
    parser.add_argument("--why", default="", metavar="TEXT", help="a reason, stored beside the results")
    parser.add_argument("--undo", action="store_true", help="cancel the requests that are not measured yet")


def run(args: argparse.Namespace) -> int:
    plan = cell_selection.plan_of(args)
    if isinstance(plan, int):
        return plan
    try:
        cells = cell_selection.cells_of(plan, args.cells)
        cell_selection.check_steps(plan, args.step)
    except SelectionError as wrong:
        return cell_selection.refused(wrong)
    load = args.load or args.disturbed or (args.undo and not args.step)  # what was asked for with --load, too
    stages, store = stage_selection.stages(cells, args.step, load), host_plan.store()
    why = args.why or (NOT_QUIET if args.disturbed else "")
    if args.disturbed and not args.undo:
        stages = _disturbed(store, plan, stages)
        if not stages:
            print("the host was quiet before each of these stages that has a result")
            return 0
    lines = _undone(store, stages) if args.undo else _asked(store, plan, stages, why)
    print("\n".join(lines))
    return 0


def _disturbed(store: Store, plan: Plan, stages: Sequence[str]) -> list[str]:
    """Loads as a whole: arms are compared load by load, and those of one load must not lie hours apart."""
    load = {stage.id: stage.load for stage in plan.stages}
    disturbed = {load[stage] for stage in stages if _was_disturbed(store, stage)}
    return [stage for stage in stages if load[stage] in disturbed]


def _was_disturbed(store: Store, stage: str) -> bool:
    result = store.result(stage)
    return result is not None and "warning" in (files.read_json(result / "attempt.json").get("noise") or {})


def _asked(store: Store, plan: Plan, stages: Sequence[str], why: str) -> Iterator[str]:
    results = {stage: result for stage in stages if (result := store.result(stage)) is not None}
    last = [f"{stage}/{result.name}" for stage, result in results.items() if result.name == timestamps.LAST]
    repeated = [stage for stage, result in results.items() if result.name != timestamps.LAST]
    for stage in repeated:
        redo_requests.ask(store, stage, why)
    if repeated:
        yield f"the next run measures {counted(len(repeated), 'stage')} again, beside the results that are there:"
        yield from _listed(plan, repeated)
    if len(results) < len(stages):
        yield f"{counted(len(stages) - len(results), 'stage')} without a result: measured in any case"
    for name in last:
        yield f"{name} would stay the newest result, as no time is later: `stepgrid retract {name} --why TEXT`"


def _undone(store: Store, stages: Sequence[str]) -> Iterator[str]:
    there = redo_requests.all_pending(store, stages)
    for stage in there:
        redo_requests.withdraw(store, stage)
    yield f"{counted(len(there), 'stage')} no longer asked for" if there else "nothing was asked for"


def _listed(plan: Plan, stages: Sequence[str]) -> Iterator[str]:
    titles = {stage.id: stage.title for stage in plan.stages}
    yield from aligned([(stage, titles[stage]) for stage in stages[:SHOWN]])
    if len(stages) > SHOWN:
        yield f"  … and {len(stages) - SHOWN:,} more"
