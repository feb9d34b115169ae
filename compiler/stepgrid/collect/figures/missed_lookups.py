"""Steps whose lookups found fewer keys than they should: their figures get the expected rate, and a warning.

What is expected follows from the steps before, so that results of any age have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stepgrid.collect.figures.step_figures import StepFigures
from stepgrid.model.plan import PlannedStage, PlannedStep
from stepgrid.plugins.hit_rate import EXPECTED, FOUND, expected, is_low, words

Stages = Mapping[str, PlannedStage]


def told(stage: PlannedStage, stages: Stages, found: Sequence[StepFigures]) -> list[StepFigures]:
    """The steps of a stage; `stages`: those before it, by id. One that is not there leaves the rate unknown."""
    if not any(FOUND in each.metrics for each in found):
        return list(found)
    chain = _chain(stage, stages)
    rates = expected(chain)[-len(found) :] if chain else [None] * len(found)
    return [_told(*each) for each in zip(stage.steps, found, rates, strict=True)]


def _told(step: PlannedStep, found: StepFigures, wanted: float | None) -> StepFigures:
    if wanted is None or FOUND not in found.metrics:
        return found
    metrics = {**found.metrics, EXPECTED: wanted}
    if not is_low(metrics, wanted, step):
        return replace(found, metrics=metrics)
    return replace(found, metrics=metrics, warnings=[*found.warnings, words(metrics, wanted)])


def _chain(stage: PlannedStage, stages: Stages) -> list[PlannedStep]:
    """From the empty database on; nothing where a stage of it is not known."""
    steps, parent = [*stage.steps], stage.parent
    while parent is not None:
        if parent not in stages:
            return []
        steps = [*stages[parent].steps, *steps]
        parent = stages[parent].parent
    return steps
