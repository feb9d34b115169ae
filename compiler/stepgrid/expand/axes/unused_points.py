"""Warns of points with a `when` that no cell has: a misspelt version or name leaves them out without a word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stepgrid.expand.axes.axis import Axis
from stepgrid.expand.axes.choice import Choice
from stepgrid.expand.axes.dependencies import mentioned
from stepgrid.expand.builds import Build
from stepgrid.language.problems import Problems
from stepgrid.language.yaml import Text

CODE = "point-unused"
_SHOWN = 6  # versions that are listed


def warn(axes: Iterable[Axis], choices: Sequence[Choice], builds: Iterable[Build], problems: Problems) -> None:
    """`choices`: all cells of the spec. Where there is none, that is said already."""
    conditional = [(axis, point) for axis in axes for point in axis.points if point.when is not None]
    used = {point for choice in choices for point in choice.points} if conditional else set()
    for axis, point in conditional:
        if used and point not in used and point.when is not None:
            message = f"no cell has the point `{point.label}` of axis `{axis.name}`"
            problems.warn(CODE, point.when.where, message, _hint(point.when, builds), len(point.when))


def _hint(when: Text, builds: Iterable[Build]) -> str:
    if ("version", "") not in mentioned(when):
        return "change its `when`, or remove the point"
    versions = list(dict.fromkeys(build.version for build in builds))
    listed = ", ".join(versions[:_SHOWN]) + (", …" if len(versions) > _SHOWN else "")
    return f"change its `when`, or remove the point; versions here: {listed}"
