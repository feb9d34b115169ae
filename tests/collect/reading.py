"""Figures of folders that a test has written."""

from stepgrid.collect.result_figures import read_result
from stepgrid.collect.samples import Usage, read_samples, series
from stepgrid.host.files import read_record
from stepgrid.model.records import StepRecord


def step_usage(folder, window=None):
    return Usage(read_record(folder / "step.json", StepRecord), read_samples(folder), window)


def usage(folder, operations):
    return step_usage(folder).figures(operations)


def series_rows(folder):
    """A row per interval, without what is missing in it."""
    columns = series(read_samples(folder))
    rows = zip(*columns.values(), strict=True)
    return [{name: value for name, value in zip(columns, row, strict=True) if value is not None} for row in rows]


def figures(result, steps):
    return read_result(result, steps).steps
