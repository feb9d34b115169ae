"""The answer to "what would a run do, and why": values that the command line writes as text or JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from stepgrid.model.plan import Plan
from stepgrid.model.status import Action, NodeStatus, Status
from stepgrid.plan.difference import UNSET, Input
from stepgrid.plan.time_estimate import Power

MADE_BY = "made by "  # another spec


@dataclass(frozen=True, slots=True)
class Node:
    status: NodeStatus
    load: bool  # a stage that others begin from
    cells: tuple[str, ...]
    inputs: tuple[Input, ...] = ()  # that differ from the most similar stage that has a result
    compared: str | None = None  # that stage
    bytes: int | None = None

    @property
    def runs(self) -> bool:
        return self.status.times > 0

    @property
    def seconds(self) -> float | None:
        """As often as it runs."""
        once = self.status.seconds
        return None if once is None else once * max(self.status.times, 1)


@dataclass(frozen=True, slots=True)
class Result:
    """One that no longer belongs to the spec."""

    stage: str
    title: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Preview:
    plan: Plan
    nodes: Sequence[Node]  # builds, then stages in the order in which they run
    saved: float
    power: Power | None
    abandoned: Sequence[Result] = ()
    to_read: int = 0  # results whose kept output is read again: of another metric, pattern or parser

    @property
    def running(self) -> list[Node]:
        return [node for node in self.nodes if node.runs]

    @property
    def sized(self) -> list[Node]:
        """Of what runs, that which leaves something that stays: builds, and stages that others begin from."""
        return [node for node in self.running if node.status.is_build or node.load]

    @property
    def seconds(self) -> float | None:
        return _sum([node.seconds for node in self.running])

    @property
    def bytes(self) -> int | None:
        return _sum([node.bytes for node in self.sized])


_Number = TypeVar("_Number", int, float)


def _sum(values: Sequence[_Number | None]) -> _Number | None:
    """Of those that are known; None when there are some and not one is known."""
    known = [value for value in values if value is not None]
    return None if values and not known else sum(known)


def to_json(outlook: Preview) -> dict[str, Any]:
    plan = outlook.plan
    return {
        "spec": plan.spec,
        "scale": plan.scale,
        "plan": plan.digest,
        "title": plan.title,
        "cells": [{"id": cell.id, "axes": dict(cell.labels), "repeats": len(cell.repeats)} for cell in plan.cells],
        "nodes": [_node(node) for node in outlook.nodes],
        "abandoned": [{"id": each.stage, "title": each.title, "seconds": each.seconds} for each in outlook.abandoned],
        "totals": _totals(outlook),
        "warnings": list(plan.warnings),
    }


def _node(node: Node) -> dict[str, Any]:
    said = node.status
    return {
        "id": said.id,
        "kind": said.kind,
        "title": said.title,
        "state": said.status,
        "action": said.action,
        "runs": node.runs,
        "cells": list(node.cells),
        "because": said.because,
        "compared": node.compared,
        "reasons": [_input(each) for each in node.inputs],
        "seconds": node.seconds,
        "bytes": node.bytes,
    }


def _input(each: Input) -> dict[str, Any]:
    """What was not there has no `old`, what is gone no `new`: null is a value."""
    sides: Mapping[str, Any] = {"old": each.old, "new": each.new}
    there = {name: value for name, value in sides.items() if value is not UNSET}
    return {"field": each.field, **there, "where": each.where or None}


def _totals(outlook: Preview) -> dict[str, Any]:
    running, plan, power = outlook.running, outlook.plan, outlook.power
    states = Counter(node.status.status for node in outlook.nodes)
    acts = Counter(node.status.action for node in outlook.nodes)
    return {
        "cells": len(plan.cells),
        "builds": len(plan.builds),
        "stages": len(plan.stages),
        "states": {status: states[status] for status in Status},
        "actions": {action: acts[action] for action in Action},
        "to_run": {kind: sum(node.status.kind == kind for node in running) for kind in ("build", "stage")},
        "results_to_read": outlook.to_read,
        "seconds": outlook.seconds,
        "hours": None if outlook.seconds is None else outlook.seconds / 3600,
        "seconds_unknown": sum(node.seconds is None for node in running),
        "bytes": outlook.bytes,
        "bytes_unknown": sum(node.bytes is None for node in outlook.sized),
        "saved_seconds": outlook.saved,
        "saved_hours": outlook.saved / 3600,
        "to_see_3_percent": None
        if power is None
        else {
            "step": power.step,
            "spread": power.spread,
            "loads": power.loads,
            "seconds": power.seconds,
            "loads_for_verdict": power.verdict,
        },
    }
