"""stepgrid results SPEC [CELL …]: all results and attempts of its stages, and which of them count."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from stepgrid.cli.shared import cell_selection
from stepgrid.cli.shared.cell_selection import SelectionError
from stepgrid.model.plan import Plan
from stepgrid.model.status import Action, NodeStatus
from stepgrid.model.units import duration
from stepgrid.plan import stage_selection
from stepgrid.store import redo_requests
from stepgrid.store.status.attempts import COUNTS, PastAttempt, tried
from stepgrid.store.status.reader import StatusReader
from stepgrid.summarize.formats import json_text
from stepgrid.summarize.formats.text import aligned
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
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
    except SelectionError as wrong:
        return cell_selection.refused(wrong)
    stages, store = stage_selection.stages(cells, load=True), host_plan.store()
    if args.format == "json":
        print(json_text.text(to_json(store, plan, stages)))
    else:
        print("\n".join(_told(store, plan, stages)) or "nothing was measured yet")
    return 0


def _told(store: Store, plan: Plan, stages: Sequence[str]) -> Iterator[str]:
    for node, found in _tried(store, plan, stages):
        if found:
            yield f"{node.id}  {node.status}  {node.title}"
            yield from aligned(map(_row, found), right=[3])
            texts = [text for attempt in found if attempt.standing == COUNTS for text in attempt.warnings]
            yield from (f"  note  {text}" for text in dict.fromkeys(texts))
            if node.action is Action.REDO:
                yield f"  again  {node.why}"


def _tried(store: Store, plan: Plan, stages: Sequence[str]) -> Iterator[tuple[NodeStatus, list[PastAttempt]]]:
    nodes = StatusReader(store, plan).read().nodes
    return ((nodes[stage], tried(store, nodes[stage])) for stage in stages)


def _row(each: PastAttempt) -> tuple[str, ...]:
    started = (each.started or "").replace("T", " ")[:19]
    took = "" if each.seconds is None else duration(each.seconds)
    status = each.status if each.status not in (None, "done") else ""
    said = ": ".join(part for part in (status, each.said) if part)
    return each.standing, each.folder.name, started, took, each.host or "", said


def to_json(store: Store, plan: Plan, stages: Sequence[str]) -> list[dict[str, Any]]:
    def entry(node: NodeStatus, found: Sequence[PastAttempt]) -> dict[str, Any]:
        pending = redo_requests.pending(store, node.id)
        listed = [{**asdict(each), "folder": str(each.folder)} for each in found]
        again = pending and asdict(pending)
        return {"stage": node.id, "title": node.title, "state": node.status, "tried": listed, "again": again}

    return [entry(*each) for each in _tried(store, plan, stages)]
