"""How long stages take: as declared or estimated, scaled by what was measured of their kind."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stepgrid.model import status
from stepgrid.model.plan import Plan
from stepgrid.model.status import Node
from stepgrid.store.images.verification import Looks
from stepgrid.store.status.durations import seconds
from stepgrid.store.store import Store

NEWEST = 64  # results that the pace is taken from: the latest say most, and reading thousands would cost
Stage = Mapping[str, Any]  # as the plan's header lists it


@dataclass(frozen=True, slots=True)
class Pace:
    """Measured / declared, for loads (True) and for what follows them (False): they are estimated differently."""

    by_kind: Mapping[bool, float]

    def seconds(self, stage: Stage) -> float:
        return float(stage["seconds"]) * self.by_kind.get(_is_load(stage), 1.0)

    def knows(self, stage: Stage) -> bool:
        return _is_load(stage) in self.by_kind


def pace(store: Store, done: Mapping[str, Stage]) -> Pace:
    measured, declared = {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}
    for node, result in heapq.nlargest(NEWEST, _results(store, done), key=lambda entry: entry[1].parent.name):
        stage, seconds = done[node], _duration(result)
        if seconds is not None and stage["seconds"] > 0:
            measured[_is_load(stage)] += seconds
            declared[_is_load(stage)] += stage["seconds"]
    return Pace({kind: measured[kind] / declared[kind] for kind in measured if measured[kind] > 0})


def replays(
    store: Store, stage: Stage, stages: Mapping[str, Stage], usable: Callable[[str], bool] | None = None
) -> Iterator[Stage]:
    """What is run again before it can start: its ancestors that are done, up to the nearest image that is usable."""
    usable = usable or Looks(store).is_usable
    parent = stages.get(stage["parent"] or "")
    while parent and store.mark(parent["id"]).exists() and not usable(parent["id"]):
        yield parent
        parent = stages.get(parent["parent"] or "")


def needed(store: Store, stage: Stage, stages: Mapping[str, Stage], found: Pace) -> float | None:
    """Seconds of a stage and of its replays; None when one of them is unknown."""
    parts = [stage, *replays(store, stage, stages)]
    return sum(map(found.seconds, parts)) if all(part["seconds"] > 0 for part in parts) else None


def _is_load(stage: Stage) -> bool:
    return stage["parent"] is None


def _results(store: Store, done: Iterable[str]) -> list[tuple[str, Path]]:
    """Where the marks point to: the attempt's name, which says its time, without reading a file."""
    found = []
    for stage in done:
        mark = store.mark(stage)
        try:
            found.append((stage, mark.parent / mark.readlink()))
        except OSError:
            continue
    return found


def _duration(result: Path) -> float | None:
    """Seconds of a measured result; None for an unsupported or unreadable one."""
    try:
        record = json.loads(result.read_text(encoding="utf-8"))
        return seconds(record) if record["status"] == "done" else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


# How long what is ahead will take: declared seconds by the pace of what was measured, less what is over of it.

BEFORE_A_RUN = (status.LEFT, status.FAILED, status.KILLED, status.BLOCKED)  # all that the next one will do


@dataclass(frozen=True, slots=True)
class Found:
    nodes: Sequence[Node]  # with the seconds that each will take
    seconds: float | None  # None: of some it is unknown
    about: bool


class Ahead:
    def __init__(self, store: Store, plan: Plan) -> None:
        self._store = store
        self._stages: dict[str, Mapping[str, Any]] = {
            s.id: {"id": s.id, "parent": s.parent, "seconds": s.seconds} for s in plan.stages
        }
        self._pace: tuple[int, Pace] = (-1, Pace({}))
        self._images = Looks(store)

    def of(self, nodes: Mapping[str, Node], active: bool, now: float) -> Found:
        done = {node.id: self._stages[node.id] for node in nodes.values() if node.kind == "stage" and _measured(node)}
        if self._pace[0] != len(done):  # it reads results: not at every look
            self._pace = len(done), pace(self._store, done)
        ahead = [node for node in nodes.values() if node.kind == "stage" and _is_ahead(node, active)]
        again = {stage["id"]: stage for node in ahead if not _has_begun(node) for stage in self._replays(node)}
        stages = [*(self._stages[node.id] for node in ahead), *again.values()]
        known = all(stage["seconds"] > 0 for stage in stages)
        whole = sum(map(self._pace[1].seconds, stages)) - sum(self._over(node, now) for node in ahead)
        about = not all(map(self._pace[1].knows, stages))
        told = [self._replayed(self._timed(node)) if node.id in again else self._timed(node) for node in nodes.values()]
        return Found(told, max(whole, 0.0) if known else None, about)

    def _replays(self, node: Node) -> Iterator[Mapping[str, Any]]:
        return replays(self._store, self._stages[node.id], self._stages, self._images.is_usable)

    def _replayed(self, node: Node) -> Node:
        return replace(node, replayed=True, because=self._images.damage(node.id) or node.because)

    def _timed(self, node: Node) -> Node:
        if node.kind == "build" or node.seconds is not None or node.state in (status.DONE, status.UNSUPPORTED):
            return node
        stage = self._stages[node.id]
        return replace(node, seconds=self._pace[1].seconds(stage) if stage["seconds"] > 0 else None)

    def _over(self, node: Node, now: float) -> float:
        """Seconds of a running stage that are over; no more than it was to take."""
        if not _has_begun(node) or node.work is None or node.work.since is None:
            return 0.0
        return min(max(now - node.work.since, 0.0), self._pace[1].seconds(self._stages[node.id]))


def _measured(node: Node) -> bool:
    return node.state == status.DONE


def _has_begun(node: Node) -> bool:
    return node.state == status.RUNNING


def _is_ahead(node: Node, active: bool) -> bool:
    return node.state in (status.RUNNING, status.WAITING, status.LEFT) or (not active and node.state in BEFORE_A_RUN)
