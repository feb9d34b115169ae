"""CSV for Apache Otava (tests of `type: csv`): a row for each load, a column for each series."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from datetime import UTC, datetime
from io import StringIO
from statistics import fmean

from stepgrid.summarize.interchange import series_names
from stepgrid.summarize.report import Report

TIME, ATTRIBUTES = "time", ("plan", "load")


def text(report: Report) -> str:
    series = dict(series_names.points(report))
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([TIME, *ATTRIBUTES, *series])
    times = _times(report)
    for load in sorted(times):
        figures = (_figure(point.values().get(load)) for point in series.values())
        writer.writerow(
            [times[load].replace(tzinfo=UTC).isoformat(sep=" ", timespec="seconds"), report.setup.plan, load, *figures]
        )
    return file.getvalue()


def _figure(runs: list[float] | None) -> str:
    """Otava reads every cell as a number: what a load lacks is none."""
    return f"{fmean(runs):.10g}" if runs else "nan"


def _times(report: Report) -> Mapping[int, datetime]:
    """When each load began to be measured."""
    runs = [
        run for section in report.comparisons.sections for point in section.points for run in point.runs if run.started
    ]
    found: dict[int, datetime] = {}
    for run in runs:
        if run.started:
            found[run.load] = min(found.get(run.load, run.started), run.started)
    return found
