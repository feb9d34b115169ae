"""How long stages take: as declared or estimated, scaled by what was measured of their kind."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepgrid.run.images.verification import Looks
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
