"""What a report may name: axes, variables of live grids and steps, with their labels; and figures."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from stepgrid.language.spec_file import Document
from stepgrid.model.plan import Axis, PlannedCell, PlannedStep

BUILD, STEP = "build", "step"


class Vocabulary:
    def __init__(
        self,
        document: Document,
        axes: Sequence[Axis],
        cells: Iterable[PlannedCell],
        stages: Iterable[Sequence[PlannedStep]],
    ) -> None:
        self.exact: dict[str, set[str]] = {axis.name: set(axis.labels) for axis in axes}
        self.exact[STEP] = set()
        self.seconds: dict[str, float] = {}  # of measured steps: how long one lasts at most; inf where it does not say
        self._add_steps(cells, {id(step.settings): step for steps in stages for step in steps}.values())
        builds = self.exact[BUILD] | set(document.spec.builds)  # a family means its versions
        self.labels: Mapping[str, set[str]] = {**self.exact, BUILD: builds}
        self.figures = {*metrics(), *map(str, (probe.name for probe in document.spec.probes)), *self._own}

    @property
    def names(self) -> set[str]:
        """All that a table may show: it can be called something else there."""
        return {*self.exact, *self.figures}.union(*self.exact.values())

    def _add_steps(self, cells: Iterable[PlannedCell], planned: Collection[PlannedStep]) -> None:
        from stepgrid.plugins.metrics import step_metrics

        lasting: dict[str, float] = {}
        self._own = set(step_metrics(planned))
        for step in planned:
            lasting[step.name] = max(_seconds(step), lasting.get(step.name, 0.0))
        for head in (head for steps in {id(cell.steps): cell.steps for cell in cells}.values() for head in steps):
            self.exact[STEP] |= {head.name, head.step}
            for variable, value in head.variables.items():
                self.exact.setdefault(variable, set()).add(value)
            for name in (head.name, head.step) if head.measured else ():
                self.seconds[name] = max(lasting[head.name], self.seconds.get(name, 0.0))


def _seconds(step: PlannedStep) -> float:
    said = step.settings.get("duration")
    return float(said) if isinstance(said, int | float) else math.inf


def metrics() -> Iterator[str]:
    from stepgrid.plugins.metrics import METRICS

    for name, metric in METRICS.items():
        yield from (name, *metric.legacy.values())
