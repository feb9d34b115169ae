"""The parsed figures of a result, cached in its folder by driver and parser revision: a parser fix collects again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler.collect import collected, series_figures
from compiler.collect.usage import Usage
from compiler.drivers import runnable, running
from compiler.drivers.protocol import Figures, ParseError
from compiler.legacy import stated
from compiler.plan.model import PlannedStep
from compiler.store.durable import write_cache

if TYPE_CHECKING:
    from compiler.collect.trace import Array

ALSO_RAN = "also_ran"  # the fact of a driver that other operations than those of `operations` were run
REVISION = 5  # of what is kept beside the driver's own figures


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
    samples: Mapping[str, Array] | None = None  # per second; None: not read with the rest, and never in the cache


def figures(result: Path, folders: Sequence[Path], steps: Sequence[PlannedStep]) -> list[StepFigures]:
    """One per step, in the order of the stage; steps of one driver share a cache file."""
    caches = {kind: _cached(result, kind, folders, steps) for kind in {step.kind for step in steps}}
    return [caches[step.kind][index] for index, step in enumerate(steps)]


def _cached(result: Path, kind: str, folders: Sequence[Path], steps: Sequence[PlannedStep]) -> dict[int, StepFigures]:
    path = result / f"figures.{kind}.{parser(kind)}.json"
    wanted = {index for index, step in enumerate(steps) if step.kind == kind}
    known = _load(path)
    if known is None or set(known) != wanted:
        known = {index: _parse(folders[index], steps[index]) for index in sorted(wanted)}
        if not any(step.error for step in known.values()):
            _save(path, known)
    return known


def parser(kind: str) -> int:
    """Imported results may be of a kind that this version does not run."""
    found = runnable(kind)
    return found.parser if found else 0


def _parse(folder: Path, step: PlannedStep) -> StepFigures:
    try:
        parsed = stated.figures(folder) or running(step.kind).parse(folder, step.settings)
        own = {**series_figures.figures(parsed.qps), **parsed.metrics}
        used = Usage(folder)
        metrics = {**used.figures(_operations(parsed)), **collected.figures(folder), **own}
    except (ParseError, OSError, ValueError) as error:
        return StepFigures(error=f"{step.name}: {error}")
    said = [*parsed.warnings, *series_figures.warnings(parsed.qps), *collected.warnings(folder)]
    return _figures(parsed, metrics, said, used)


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
        samples=used.series(),
    )


def _load(path: Path) -> dict[int, StepFigures] | None:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["revision"] != REVISION:
            return None
        return {int(index): StepFigures(**step) for index, step in raw["steps"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save(path: Path, steps: Mapping[int, StepFigures]) -> None:
    body: dict[str, Any] = {"revision": REVISION, "steps": {index: _kept(step) for index, step in steps.items()}}
    with suppress(OSError):  # a cache only: a read-only or full store is no reason to fail
        write_cache(path, json.dumps(body, separators=(",", ":")))


def _kept(step: StepFigures) -> dict[str, Any]:
    return {each.name: getattr(step, each.name) for each in fields(step) if each.name != "samples"}
