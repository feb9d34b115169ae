"""Where a cell's settings come from: the nearest word on each, in the order of precedence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compiler.language import models
from compiler.language.nodes import Map, place
from compiler.language.problem import Problems, Where
from compiler.language.read import Document, read
from compiler.plan.model import Plan, PlannedCell

NOWHERE = Where("", 0, 0)


@dataclass(frozen=True, slots=True)
class Finder:
    document: Document
    labels: Mapping[str, str]

    @classmethod
    def of(cls, plan: Plan, cell: PlannedCell) -> Finder:
        document = read(plan.spec, plan.scale, Problems())
        assert document is not None, "it has compiled"
        return cls(document, cell.labels)

    def places(self, step: str, settings: Iterable[str]) -> dict[str, str]:
        """Setting -> file:line:column; those that nobody speaks of are not there."""
        layers = [*self._step(step), *self._cell()]
        found = {name: " or ".join(_places(name, layers)) for name in settings}
        return {name: where for name, where in found.items() if where}

    def _step(self, name: str) -> Iterator[Mapping[str, Any]]:
        """What the step says itself: its use, then its definition."""
        workload = self._workload()
        listed = self.document.spec.steps if self.document.spec.steps is not None else workload
        for item in listed:
            if name in _names(item):
                yield from _own(item)
                yield from (layer for step in workload if item.use and step.name == item.use for layer in _own(step))

    def _workload(self) -> Sequence[models.Step]:
        name = self.document.spec.workload
        libraries = (self.document.spec.define, *(source.library.define for source in self.document.includes))
        return next((each.workloads[name] for each in libraries if name in each.workloads), ()) if name else ()

    def _cell(self) -> Iterator[Mapping[str, Any]]:
        spec = self.document.spec
        for name, axis in reversed(spec.sweep.items()):
            if name in self.labels:
                yield from _point(axis, self.labels[name])
        yield from self._build()
        yield spec.params

    def _build(self) -> Iterator[Mapping[str, Any]]:
        label = self.labels.get("build", "")
        families = [name for name in self.document.spec.builds if label == name or label.startswith(f"{name}-")]
        left = sorted(families, key=len, reverse=True)[:1]
        while left:
            build = self.document.spec.builds.get(left[0]) or self._library_build(left[0])
            if build is None:
                return
            yield build.params
            again = str(build.extends) if build.extends else None
            inherited = self._library_build(again) if again else None
            if inherited is not None:
                yield inherited.params
            left = [str(inherited.extends)] if inherited is not None and inherited.extends else []

    def _library_build(self, name: str) -> models.Build | None:
        libraries = (self.document.spec.define, *(source.library.define for source in self.document.includes))
        return next((each.builds[name] for each in libraries if name in each.builds), None)


def _names(item: models.Step) -> set[str]:
    return {str(name) for name in (item.as_ or item.use or item.name,) if name is not None}


def _own(step: models.Step) -> Iterator[Mapping[str, Any]]:
    yield step.model_extra or {}
    yield step.params


def _point(axis: models.Axis, label: str) -> Iterator[Mapping[str, Any]]:
    if isinstance(axis.points, dict) and label in axis.points:
        yield axis.points[label].params
    for value in axis.values or () if axis.param is not None else ():
        if value == label:
            yield {str(axis.param): value}


def _places(name: str, layers: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The nearest that speaks; below one that may not hold, also the next."""
    for layer in layers:
        if name in layer:
            where = _where(layer, name)
            if where is not NOWHERE:
                yield str(where)
            if not _conditional(layer[name]):
                return


def _where(layer: Mapping[str, Any], name: str) -> Where:
    default = layer.at[name] if isinstance(layer, Map) else NOWHERE
    return place(layer[name], default)


def _conditional(node: Any) -> bool:
    return isinstance(node, list) and bool(node) and all(isinstance(each, dict) and "when" in each for each in node)
