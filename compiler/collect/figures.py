"""What the steps of a result say: their driver's figures, and those of their samples, probes and servers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from compiler.collect import collected, kept, lookups, series_figures, told
from compiler.collect.usage import Usage, usages
from compiler.drivers import running
from compiler.drivers.protocol import Buckets, Figures, ParseError
from compiler.legacy import stated
from compiler.plan.model import PlannedStep

if TYPE_CHECKING:
    from compiler.collect.states import State
    from compiler.collect.trace import Array

DRAIN = "drain_seconds"  # the figure of a driver that its step went on after what it measured
ALSO_RAN = "also_ran"  # the fact of a driver that other operations than those of `operations` were run


@dataclass(frozen=True, slots=True)
class StepFigures:
    """What a step says, or why it could not be read."""

    metrics: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    qps: Sequence[tuple[float, float]] = ()
    warnings: Sequence[str] = ()
    error: str | None = None
    counters: Mapping[str, float] = field(default_factory=dict)
    levels: Sequence[Mapping[str, float | str]] = ()
    histograms: Sequence[Buckets] = ()
    samples: Array | None = None  # per second: collect.samples.SERIES; None: could not be read


def figures(state: State, steps: Sequence[PlannedStep]) -> list[StepFigures]:
    """One per step of a result, in the order of the stage; their metrics are kept, unless one could not be read."""
    assert state.result is not None
    used = usages(state.folders, state.steps)
    found = [_parse(folder, step, each) for folder, step, each in zip(state.folders, steps, used, strict=True)]
    for kind in {step.kind for step in steps}:
        own = {at: found[at] for at, step in enumerate(steps) if step.kind == kind}
        if not any(step.error for step in own.values()):
            kept.keep(state.result, kind, {at: step.metrics for at, step in own.items()})
    return found


def _parse(folder: Path, step: PlannedStep, used: Usage | ValueError) -> StepFigures:
    try:
        if isinstance(used, ValueError):
            raise used
        there = _names(folder)
        parsed = (stated.figures(folder) if stated.NAME in there else None) or running(step.kind).parse(
            folder, step.settings
        )
        own = {**series_figures.figures(parsed.qps), **parsed.metrics}
        operations, grown = _operations(parsed), told.counters(folder) if told.FOLDER in there else {}
        asked = told.figures(folder, grown, operations) if told.FOLDER in there else {}
        beside = collected.figures(folder) if collected.FOLDER in there else {}
        measured = used.within(parsed.window)
        drained = measured.after() if DRAIN in parsed.metrics else {}
        metrics = {**measured.figures(operations), **drained, **beside, **asked, **own}
        metrics |= lookups.figures(metrics)
    except (ParseError, OSError, ValueError) as error:
        return StepFigures(error=f"{step.name}: {error}")
    said = [*parsed.warnings, *series_figures.warnings(parsed.qps)]
    said += collected.warnings(folder) if collected.FOLDER in there else ()
    return _figures(replace(parsed, counters={**grown, **parsed.counters}), metrics, said, used)


def _names(folder: Path) -> set[str]:
    """One look says what need not be opened: most steps have none of it."""
    return set(os.listdir(folder))  # noqa: PTH208 - names, of 10,000 folders


def _operations(parsed: Figures) -> float | None:
    """What the step's processes worked for; None where they also worked for something that is not counted in it."""
    return None if ALSO_RAN in parsed.facts else parsed.metrics.get("operations")


def _figures(parsed: Figures, metrics: Mapping[str, float], warnings: Sequence[str], used: Usage) -> StepFigures:
    return StepFigures(
        metrics=metrics,
        facts=dict(parsed.facts),
        qps=list(parsed.qps),
        warnings=warnings,
        counters=dict(parsed.counters),
        levels=list(parsed.levels),
        histograms=list(parsed.histograms),
        samples=used.series(),
    )
