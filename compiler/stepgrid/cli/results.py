"""stepgrid results SPEC [CELL …]: all results and attempts of its stages, and which of them count."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from stepgrid.cli.shared import cell_selection
from stepgrid.cli.shared.cell_selection import Nothing
from stepgrid.model.plan import Plan
from stepgrid.model.units import duration
from stepgrid.plan import stage_selection
from stepgrid.store import redo_requests
from stepgrid.store.history.attempts import tried
from stepgrid.summarize.formats import json_text
from stepgrid.summarize.formats.text import aligned
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.store.history.attempts import Tried
    from stepgrid.store.store import Store


def arguments(parser: argparse.ArgumentParser) -> None:
    cell_selection.arguments(parser, "a cell's id, or labels that single it out (all cells)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON list")


def run(args: argparse.Namespace) -> int:
    plan = cell_selection.plan_of(args)
    if isinstance(plan, int):
        return plan
    try:
        cells = cell_selection.cells_of(plan, args.cells)
    except Nothing as wrong:
        return cell_selection.refused(wrong)
    stages, store = stage_selection.stages(cells, load=True), host_plan.store()
    if args.format == "json":
        _print_json(store, plan, stages)
    else:
        print("\n".join(_told(store, plan, stages)) or "nothing was measured yet")
    return 0


def _told(store: Store, plan: Plan, stages: Sequence[str]) -> Iterator[str]:
    titles = {stage.id: stage.title for stage in plan.stages}
    for stage in stages:
        if found := tried(store, stage):
            yield f"{stage}  {titles[stage]}"
            yield from aligned(map(_row, found), right=[3])
            if pending := redo_requests.pending(store, stage):
                yield f"  again  {pending.said}"


def _row(each: Tried) -> tuple[str, ...]:
    started = (each.started or "").replace("T", " ")[:19]
    took = "" if each.seconds is None else duration(each.seconds)
    status = each.status if each.status not in (None, "done") else ""
    said = ": ".join(part for part in (status, each.said) if part)
    return each.standing, each.folder.name, started, took, each.host or "", said


def _print_json(store: Store, plan: Plan, stages: Sequence[str]) -> None:
    titles = {stage.id: stage.title for stage in plan.stages}

    def entry(stage: str) -> dict[str, Any]:
        pending = redo_requests.pending(store, stage)
        listed = [{**asdict(each), "folder": str(each.folder)} for each in tried(store, stage)]
        return {"stage": stage, "title": titles[stage], "tried": listed, "again": pending and asdict(pending)}

    print(json_text.text([entry(stage) for stage in stages]))
