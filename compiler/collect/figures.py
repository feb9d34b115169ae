"""The parsed figures of a result, cached in its folder by driver and parser revision: a parser fix collects again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler.collect import collected, lookups, series_figures, told
from compiler.collect.usage import Usage, usages
from compiler.drivers import runnable, running
from compiler.drivers.protocol import Bucket, Figures, ParseError
from compiler.legacy import stated
from compiler.plan.model import PlannedStep
from compiler.store.durable import write_cache

if TYPE_CHECKING:
    from compiler.collect.states import State
    from compiler.collect.trace import Array

DRAIN = "drain_seconds"  # the figure of a driver that its step went on after what it measured
ALSO_RAN = "also_ran"  # the fact of a driver that other operations than those of `operations` were run
REVISION = 8  # of what is kept beside the driver's own figures


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
    histograms: Sequence[Bucket] = ()
    samples: Array | None = None  # per second: collect.samples.SERIES; None: not read with the rest, never in the cache


def figures(state: State, steps: Sequence[PlannedStep]) -> list[StepFigures]:
    """One per step of a result, in the order of the stage; steps of one driver share a cache file."""
    caches = {kind: _cached(state, kind, steps) for kind in {step.kind for step in steps}}
    return [caches[step.kind][index] for index, step in enumerate(steps)]


def _cached(state: State, kind: str, steps: Sequence[PlannedStep]) -> dict[int, StepFigures]:
    assert state.result is not None
    path, folders = _path(state.result, kind), state.folders
    wanted = {index for index, step in enumerate(steps) if step.kind == kind}
    known = _load(path)
    if known is None or set(known) != wanted:
        at = sorted(wanted)
        used = zip(at, usages([folders[index] for index in at], [state.steps[index] for index in at]), strict=True)
        known = {index: _parse(folders[index], steps[index], each) for index, each in used}
        if not any(step.error for step in known.values()):
            _save(path, known)
    return known


def read_before(result: Path, kind: str) -> Mapping[int, StepFigures]:
    """By this parser; nothing where it has not read the result."""
    return _load(_path(result, kind)) or {}


def _path(result: Path, kind: str) -> Path:
    return result / f"figures.{kind}.{parser(kind)}.json"


def parser(kind: str) -> int:
    """Imported results may be of a kind that this version does not run."""
    found = runnable(kind)
    return found.parser if found else 0


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


def _load(path: Path) -> dict[int, StepFigures] | None:
    from pydantic_core import from_json  # as json.loads, in half its time

    try:
        raw = from_json(path.read_bytes())
        if raw["revision"] != REVISION:
            return None
        return {int(index): StepFigures(**step) for index, step in raw["steps"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save(path: Path, steps: Mapping[int, StepFigures]) -> None:
    from pydantic_core import to_json  # as json.dumps, in a third of its time

    body: dict[str, Any] = {"revision": REVISION, "steps": {index: _kept(step) for index, step in steps.items()}}
    with suppress(OSError):  # a cache only: a read-only or full store is no reason to fail
        write_cache(path, to_json(body).decode())


def _kept(step: StepFigures) -> dict[str, Any]:
    return {each.name: getattr(step, each.name) for each in fields(step) if each.name != "samples"}
