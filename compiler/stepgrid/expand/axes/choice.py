"""A choice: a build and at most one point of each axis, which becomes a cell."""

from __future__ import annotations

from typing import NamedTuple

from stepgrid.expand.axes.points import Point
from stepgrid.expand.builds import Build

BUILD = "build"


class Choice(NamedTuple):
    build: Build
    points: tuple[Point | None, ...]  # one per axis, in the axes' order; None where `also` left an axis out
