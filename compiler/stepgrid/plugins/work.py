"""Figures by which runs of a step did the same work: arms that did other work are not compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class WorkFigure(NamedTuple):
    """A figure that runs with the same settings have alike; else they did other work."""

    metric: str
    text: str  # how it is said: `{:.3g} % of the keys found`
    limit: float  # the largest difference
    of: str = ""  # the metric that it is a percentage of


@runtime_checkable
class SameWork(Protocol):
    """A kind that knows these figures of its runs."""

    work_figures: Sequence[WorkFigure]
