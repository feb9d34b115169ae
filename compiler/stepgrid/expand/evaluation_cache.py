"""What looks at some of the axes only is worked out once for each combination of their points.

A grid of ten thousand cells has few values that are different: this is what makes planning it quick."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, Generic, TypeVar

from stepgrid.expand.axes.choice import Choice
from stepgrid.expand.expression_scope import AlreadyReported

T = TypeVar("T")


class EvaluationCache(Generic[T]):
    """A function of a choice's build and of its points on `axes`. A fault that it reported is one for all of them."""

    __slots__ = ("_compute", "_faults", "_found", "_key")

    def __init__(self, axes: Iterable[int], compute: Callable[[Choice], T]) -> None:
        chosen = sorted(axes)
        self._key: Callable[[Any], Any] = itemgetter(*chosen) if chosen else lambda points: None
        self._compute = compute
        self._found: dict[Any, T] = {}
        self._faults: dict[Any, str] = {}

    def __call__(self, choice: Choice) -> T:
        key = (choice.build, self._key(choice.points))
        try:
            return self._found[key]
        except KeyError:
            return self._work_out(key, choice)

    def _work_out(self, key: Any, choice: Choice) -> T:
        if key in self._faults:
            raise AlreadyReported(self._faults[key])
        try:
            value = self._found[key] = self._compute(choice)
        except AlreadyReported as fault:
            self._faults[key] = str(fault)
            raise
        return value
