"""What the steps of a result say: their driver's figures, and those of their samples, probes and servers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.collect.figures import (
    client_stalls,
    collectors,
    imported_figures,
    lookups,
    metrics_cache,
    rate_targets,
    search_trials,
    series,
    server,
)
from stepgrid.collect.samples.resource_usage import Usage, Window, measured, usages
from stepgrid.model.figures import Buckets, ClientRate, Figures, ParseError
from stepgrid.model.plan import PlannedStep
from stepgrid.model.searched_step import as_run
from stepgrid.plugins.drivers import parsed, running

if TYPE_CHECKING:
    from stepgrid.collect.samples.sample_format import Array
    from stepgrid.model.status import Result

DRAIN = "drain_seconds"  # the figure of a driver that its step went on after what it measured
# with what a step wrote, whatever parser of whose plug-in met it: the step says so, others go on
_WRONG = (ParseError, OSError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError)
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
    counted: Sequence[tuple[str, str, float]] = ()  # by collectors: collector, name, count
    levels: Sequence[Mapping[str, float | str]] = ()
    sizes: Sequence[Mapping[str, float | str]] = ()  # of the server's tables and indexes
    histograms: Sequence[Buckets] = ()
    rates: Sequence[ClientRate] = ()
    start: Mapping[str, Any] = field(default_factory=dict)  # what it began with, by the names of model.step_start
    samples: Array | None = None  # per second: collect.samples.SERIES; None: could not be read


def figures(result: Result, steps: Sequence[PlannedStep]) -> list[StepFigures]:
    """One per step of a result, in the order of the stage."""
    return every([(result, steps)])[0]


def every(results: Sequence[tuple[Result, Sequence[PlannedStep]]]) -> list[list[StepFigures]]:
    """Of several results; their metrics are kept beside them."""
    found = read(results)
    for (result, steps), own in zip(results, found, strict=True):
        _keep(result, steps, own)
    return found


def read(results: Sequence[tuple[Result, Sequence[PlannedStep]]]) -> list[list[StepFigures]]:
    """One kind of work after the other takes less CPU than one result after the other."""
    folders = [folder for result, _ in results for folder in result.folders]
    records = [record for result, _ in results for record in result.steps]
    planned = list(map(as_run, [step for _, steps in results for step in steps], records))
    said = list(map(_said, folders, planned))
    used = usages(folders, records)
    parts = iter(measured(*_readable(said, used)))
    of = [None if isinstance(each, Exception) else next(parts) for each in used]
    whole = [_whole(*each) for each in zip(folders, planned, records, said, used, of, strict=True)]
    left = iter(whole)
    return [list(islice(left, len(steps))) for _, steps in results]


def _keep(result: Result, steps: Sequence[PlannedStep], found: Sequence[StepFigures]) -> None:
    """The metrics, unless those of a step could not be read."""
    for kind in {step.kind for step in steps}:
        own = {at: found[at] for at, step in enumerate(steps) if step.kind == kind}
        if not any(step.error for step in own.values()):
            metrics_cache.keep(result.folder, kind, {at: step.metrics for at, step in own.items()})


class _Said(NamedTuple):
    """By a step's driver, and which files its folder has."""

    figures: Figures
    names: frozenset[str]


def _said(folder: Path, step: PlannedStep) -> _Said | Exception:
    try:
        there = _names(folder)
        own = imported_figures.figures(folder) if imported_figures.NAME in there else None
        return _Said(own or parsed(running(step.kind), folder, step.settings), there)
    except _WRONG as error:
        return error


def _readable(
    said: Sequence[_Said | Exception], used: Sequence[Usage | Exception]
) -> tuple[list[Usage], list[Window | None]]:
    """Steps whose samples could be read, and what of each was measured as far as its driver says."""
    found = [(each, other) for each, other in zip(used, said, strict=True) if not isinstance(each, Exception)]
    windows = [None if isinstance(other, Exception) else other.figures.window for _, other in found]
    return [each for each, _ in found], windows


def _whole(
    folder: Path,
    step: PlannedStep,
    record: Mapping[str, Any],
    said: _Said | Exception,
    used: Usage | Exception,
    part: Usage | None,
) -> StepFigures:
    if isinstance(used, Exception) or isinstance(said, Exception) or part is None:
        return StepFigures(error=f"{step.name}: {used if isinstance(used, Exception) else said}")
    try:
        found = _figures(folder, step, said, used, part)
        tried = search_trials.figures(step, record, found.metrics)
        return replace(found, metrics={**found.metrics, **tried}) if tried else found
    except _WRONG as error:
        return StepFigures(error=f"{step.name}: {error}")


def _names(folder: Path) -> frozenset[str]:
    """One look says what need not be opened: most steps have none of it."""
    return frozenset(os.listdir(folder))  # noqa: PTH208 - names, of 10,000 folders


def _operations(parsed: Figures) -> float | None:
    """What the step's processes worked for; None where they also worked for something that is not counted in it."""
    return None if ALSO_RAN in parsed.facts else parsed.metrics.get("operations")


def _figures(folder: Path, step: PlannedStep, said: _Said, used: Usage, part: Usage) -> StepFigures:
    parsed, there = said
    operations = _operations(parsed)
    asked = server.figures(folder, operations) if server.FOLDER in there else server.ServerFigures()
    beside = collectors.figures(folder) if collectors.FOLDER in there else {}
    drained = part.after() if DRAIN in parsed.metrics else {}
    over_time = {**series.figures(parsed.qps), **client_stalls.figures(parsed.rates)}
    own = {**rate_targets.asked(step), **over_time, **parsed.metrics}
    metrics = {**part.figures(operations), **drained, **beside, **asked.metrics, **own}
    noted = collectors.warnings(folder) if collectors.FOLDER in there else ()
    return StepFigures(
        metrics=metrics | lookups.figures(metrics) | rate_targets.figures(metrics),
        facts=dict(parsed.facts),
        qps=list(parsed.qps),
        warnings=[*parsed.warnings, *series.warnings(parsed.qps), *noted],
        counters={**asked.counters, **parsed.counters},
        counted=list(collectors.counted(folder)) if collectors.FOLDER in there else (),
        levels=[*asked.levels, *parsed.levels],
        sizes=asked.sizes,
        start=asked.start,
        histograms=list(parsed.histograms),
        rates=parsed.rates,
        samples=used.series(),
    )
