"""What a series of figures is called in other programs: the same name in every report of a spec."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.model.status import Status
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import Report


def points(report: Report) -> Iterator[tuple[str, Point]]:
    """`readww/rocksdb-9.10.0/cache=lru` of each point that has figures; runs of several points are told once."""
    for section in report.comparisons.sections:
        told = set()
        for point in section.points:
            if point.status == Status.DONE and point.places not in told:
                told.add(point.places)
                yield "/".join((section.step, *_words(section, point))), point


def _words(section: Section, point: Point) -> Iterator[str]:
    for name in section.names:
        if label := point.labels.get(name):
            yield comparison_axes.words((label,), (name,))
