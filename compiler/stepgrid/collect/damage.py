"""Damage to a result: files that changed since it was published, or that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stepgrid.collect.figures import imported_figures
from stepgrid.collect.figures.step_figures import StepFigures
from stepgrid.model.status import Result
from stepgrid.store import checksums
from stepgrid.store.status.results import changed

UNCHANGED = "its files did not change since they were published: please report this as a fault of stepgrid"


def damage(result: Result, steps: Sequence[StepFigures]) -> str | None:
    """By checksums. Older results have none: of them a file that cannot be read, and that changed since the end."""
    if result.files is not None:
        return changed(result)
    pairs = zip(result.folders, steps, strict=True)
    return next((step.error for folder, step in pairs if step.error and _written_later(folder, result.folder)), None)


def explained(result: Result, steps: Sequence[StepFigures]) -> Sequence[StepFigures]:
    """Of a result without damage: what cannot be read is a fault of the parser, and no other measurement mends it."""
    if result.files is None:
        return steps
    return [_explained(folder, step) for folder, step in zip(result.folders, steps, strict=True)]


def _explained(folder: Path, step: StepFigures) -> StepFigures:
    """Published results may state that a step failed."""
    if step.error is None or (folder / imported_figures.NAME).exists():
        return step
    return replace(step, error=f"{step.error}; {UNCHANGED}")


def _written_later(folder: Path, result: Path) -> bool:
    """The record is written last."""
    try:
        written = (result / checksums.RECORD).stat().st_mtime_ns
        return any(path.stat().st_mtime_ns > written for path in _paths(folder))
    except OSError:  # it is being moved
        return False


def _paths(folder: Path) -> Iterator[Path]:
    yield from (folder, *folder.rglob("*"))
