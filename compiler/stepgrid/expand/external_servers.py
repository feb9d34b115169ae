"""Builds that are servers which already run: what a spec cannot ask of one that it does not start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stepgrid.expand.axes.choice import Choice
from stepgrid.expand.axes.points import Point
from stepgrid.expand.steps.resolved_step import Segment
from stepgrid.language.problems import Location, Problems
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map
from stepgrid.model.plan import runs_already

START, MEMORY = "start", "launch.memory"
_WHY = {
    START: "what the page cache holds",
    MEMORY: "what memory it may take",
}


def check(document: Document, choice: Choice, segments: Sequence[Segment], problems: Problems) -> None:
    if not runs_already(choice.build.source):
        return
    points = [point for point in choice.points if point is not None]
    for asked in dict.fromkeys(_asked(segments)):
        where, width = _said(document, points, asked)
        message = f"build `{choice.build.family}` is a server that already runs: `{asked}` cannot be had of it"
        problems.add("running-server", where, message, f"who does not start it cannot say {_WHY[asked]}", width)


def _asked(segments: Sequence[Segment]) -> Iterator[str]:
    for segment in segments:
        for step in segment.steps:
            around = step.setup.values
            launch = around.get("launch")
            if START in around:
                yield START
            if isinstance(launch, dict) and "memory" in launch:
                yield MEMORY


def _said(document: Document, points: Sequence[Point], asked: str) -> tuple[Location, int]:
    """The last point that says it, else the spec."""
    for point in reversed(points):
        if _says(point, asked):
            return point.where, len(point.label)
    nodes = document.nodes
    launch = nodes.get("launch")
    if asked == MEMORY and isinstance(launch, Map) and "memory" in launch.at:
        return launch.at["memory"], len("memory")
    key = asked.partition(".")[0]
    return nodes.at.get(key, nodes.where), len(key)


def _says(point: Point, asked: str) -> bool:
    if asked == START:
        return point.start is not None
    return point.launch is not None and "memory" in point.launch.model_fields_set
