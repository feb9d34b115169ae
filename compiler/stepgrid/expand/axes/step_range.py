"""Which steps an axis changes: all, those after a checkpoint (`from`), or those that it names (`steps`)."""

from __future__ import annotations

from collections.abc import Sequence

from stepgrid.expand.axes.axis import Axis
from stepgrid.expand.step_entry import Checkpoint, StepEntry
from stepgrid.language.problems import Problems, nearest_name
from stepgrid.language.yaml import Text


class StepRange:
    def __init__(self, axes: Sequence[Axis], items: Sequence[StepEntry | Checkpoint], problems: Problems) -> None:
        self._problems = problems
        self._whole = all(item.name for item in items)  # else what could not be read may be meant
        self._steps = [item for item in items if isinstance(item, StepEntry)]
        self._starts = {item.name: item.position for item in items if isinstance(item, Checkpoint)}
        self._changed = {axis.name: self._positions(axis) for axis in axes}
        self._axes = [axis.name for axis in axes]

    def axes(self, item: StepEntry) -> list[int]:
        """The positions of the axes that change a step."""
        return [n for n, axis in enumerate(self._axes) if item.position in self._changed[axis]]

    def names(self, axis: Axis) -> tuple[str, ...] | None:
        """The steps that an axis changes, by name; None = all."""
        if axis.start is None and axis.steps is None:
            return None
        return tuple(dict.fromkeys(s.shown for s in self._steps if s.position in self._changed[axis.name]))

    def _positions(self, axis: Axis) -> frozenset[int]:
        if axis.start is not None:
            return self._after(axis.start)
        if axis.steps is not None:
            return frozenset(position for name in axis.steps for position in self._named(name))
        return frozenset(item.position for item in self._steps)

    def _after(self, checkpoint: Text) -> frozenset[int]:
        start = self._starts.get(str(checkpoint))
        if start is None:
            if self._whole:
                self._problems.undefined("checkpoint", checkpoint, checkpoint.where, self._starts)
            name = nearest_name(checkpoint, self._starts)  # stands for it, so that more faults are found
            return frozenset() if name is None else self._after(Text(name, checkpoint.where))
        return frozenset(item.position for item in self._steps if item.position > start)

    def _named(self, name: Text) -> list[int]:
        found = [item.position for item in self._steps if name in (item.name, item.shown, item.base)]
        if not found:
            names = [item.name for item in self._steps]
            if self._whole:
                self._problems.undefined("step", name, name.where, names)
            close = nearest_name(name, names)
            return [] if close is None else self._named(Text(close, name.where))
        return found
