"""How long stages take: as results of their shape did, else as declared, scaled by what was measured of their kind."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import TypeAlias

from stepgrid.model.status import Eta, NodeStatus, Result, Stage, Status
from stepgrid.plan.estimate import shape

NEWEST = 64  # results that the pace is taken from: the latest say most
KINDS = 2  # of stages: loads, and what follows them
_Form: TypeAlias = tuple[bool, str]  # whether it is a load, and its shape
_NOT_TRIED = (Status.FAILED, Status.INTERRUPTED, Status.BLOCKED)  # by the run that is active


@dataclass(frozen=True, slots=True)
class Pace:
    by_shape: Mapping[_Form, float] = field(default_factory=dict)
    by_kind: Mapping[bool, float] = field(default_factory=dict)  # measured / declared, of loads and of what follows
    forms: dict[str, _Form] = field(default_factory=dict, compare=False)  # of stages that were looked at, by id

    def seconds(self, stage: Stage) -> float | None:
        same = self.by_shape.get(self._form(stage)) if self.by_shape else None
        if same is None and stage.seconds > 0:
            return stage.seconds * self.by_kind.get(_is_load(stage), 1.0)
        return same

    def knows(self, stage: Stage) -> bool:
        return _is_load(stage) in self.by_kind or self._form(stage) in self.by_shape

    def _form(self, stage: Stage) -> _Form:
        if stage.id not in self.forms:
            self.forms[stage.id] = _form(stage)
        return self.forms[stage.id]


def pace(results: Iterable[tuple[Stage, Result]], forms: dict[str, _Form] | None = None) -> Pace:
    """`forms`: what the last pace has found out of stages."""
    times: dict[_Form, list[float]] = defaultdict(list)
    measured, declared = {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}
    for stage, result in heapq.nlargest(NEWEST, results, key=lambda entry: entry[1].folder.name):
        if result.seconds is None:
            continue
        times[_form(stage)].append(result.seconds)
        if stage.seconds > 0:
            measured[_is_load(stage)] += result.seconds
            declared[_is_load(stage)] += stage.seconds
    by_kind = {kind: measured[kind] / declared[kind] for kind in measured if measured[kind] > 0}
    return Pace({form: median(each) for form, each in times.items()}, by_kind, {} if forms is None else forms)


def eta(nodes: Iterable[NodeStatus], stages: Mapping[str, Stage], found: Pace, active: bool, now: float) -> Eta:
    """`active`: a run of the plan goes on, and does not try again what failed."""
    ahead = [node for node in nodes if node.times and node.id in stages]
    ahead = [node for node in ahead if not (active and node.status in _NOT_TRIED)]
    rough = not all(found.knows(stages[node.id]) for node in ahead)
    if any(node.seconds is None for node in ahead):
        return Eta(None, rough)
    whole = sum((node.seconds or 0.0) * node.times - _over(node, now) for node in ahead)
    return Eta(max(whole, 0.0), rough)


def _over(node: NodeStatus, now: float) -> float:
    """Seconds of a running stage that are over; no more than it was to take."""
    if not node.has_begun or node.work is None or node.work.since is None:
        return 0.0
    return min(max(now - node.work.since, 0.0), node.seconds or 0.0)


def _form(stage: Stage) -> _Form:
    return _is_load(stage), shape(stage)


def _is_load(stage: Stage) -> bool:
    return stage.parent is None
