"""What the stages of a plan took so far, and what one more load of some cells takes."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from stepgrid.model.plan import Header, PlannedCell
from stepgrid.store.paths import RESULT_FILE
from stepgrid.store.results import read_head, record_seconds
from stepgrid.store.store import Store


@dataclass(frozen=True, slots=True)
class LoadCosts:
    spent: float = 0.0
    _chains: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # cell -> its first load's stages

    def of(self, cells: Collection[str]) -> float:
        """Seconds; a stage that cells share runs once."""
        stages: dict[str, float] = {}
        for cell in cells:
            stages |= self._chains.get(cell, {})
        return math.fsum(stages.values())


def load_costs(store: Store, header: Header) -> LoadCosts:
    took = {stage: _seconds(store, stage) for cell in header.cells for stage in _stages(cell)}
    chains = {cell.id: {stage: took[stage] for stage in _stages(cell, first=True)} for cell in header.cells}
    return LoadCosts(math.fsum(took.values()), chains)


def _stages(cell: PlannedCell, first: bool = False) -> list[str]:
    """Of its first load those of all runs."""
    return [stage for repeat in cell.repeats if not (first and repeat.load) for stage in repeat.stages]


def _seconds(store: Store, stage: str) -> float:
    result = store.result(stage)
    return (record_seconds(read_head(result / RESULT_FILE)) or 0.0) if result else 0.0
