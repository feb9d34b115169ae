"""A choice: a build and at most one point of each axis, which becomes a cell."""

from __future__ import annotations

from typing import NamedTuple

from stepgrid.expand.builds import Build
from stepgrid.expand.points import Point

BUILD = "build"


class Choice(NamedTuple):
    build: Build
    points: tuple[Point | None, ...]  # one per axis, in the axes' order; None where `also` left an axis out
