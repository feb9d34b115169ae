"""Seconds that the stages of a plan took, and that one load more of its cells would take."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from stepgrid.model.plan import Header
from stepgrid.store.paths import RESULT_FILE
from stepgrid.store.results import read_head, record_seconds
from stepgrid.store.store import Store


@dataclass(frozen=True, slots=True)
class LoadCosts:
    spent: float = 0.0
    _chains: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # cell -> stages of its first load

    def of(self, cells: Collection[str]) -> float:
        """Add up the stages of a load of some cells; a stage that cells share runs once."""
        stages: dict[str, float] = {}
        for cell in cells:
            stages |= self._chains.get(cell, {})
        return math.fsum(stages.values())


def load_costs(store: Store, header: Header) -> LoadCosts:
    seconds: dict[str, float] = {}
    chains: dict[str, dict[str, float]] = {}
    for cell in header.cells:
        chain = chains[cell.id] = {}
        for repeat in cell.repeats:
            for stage in repeat.stages:
                if stage not in seconds:
                    result = store.result(stage)
                    seconds[stage] = (record_seconds(read_head(result / RESULT_FILE)) or 0.0) if result else 0.0
                if not repeat.load:
                    chain[stage] = seconds[stage]
    return LoadCosts(math.fsum(seconds.values()), chains)
