"""Figures of folders that a test has written."""

from collections.abc import Sequence
from pathlib import Path

from stepgrid.collect.result_figures import read_result
from stepgrid.collect.samples import Usage, Window, read_samples, series
from stepgrid.collect.step_figures import StepFigures
from stepgrid.host.files import read_record
from stepgrid.model.plan import PlannedStep
from stepgrid.model.records import StepRecord
from stepgrid.model.status import Result


def step_usage(folder: Path, window: Window | None = None) -> Usage:
    return Usage(read_record(folder / "step.json", StepRecord), read_samples(folder), window)


def usage(folder: Path, operations: float | None) -> dict[str, float]:
    return step_usage(folder).figures(operations)


def series_rows(folder: Path) -> list[dict[str, float]]:
    """A row per interval, without what is missing in it."""
    columns = series(read_samples(folder))
    rows = zip(*columns.values(), strict=True)
    return [{name: value for name, value in zip(columns, row, strict=True) if value is not None} for row in rows]


def figures(result: Result, steps: Sequence[PlannedStep]) -> Sequence[StepFigures]:
    return read_result(result, steps).steps
