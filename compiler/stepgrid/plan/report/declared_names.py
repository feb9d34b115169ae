"""What a report may name as the spec declares it: for a spec whose other faults leave no cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from stepgrid.language.models import Axis, Step
from stepgrid.language.spec_file import Document
from stepgrid.plan.report.vocabulary import BUILD, STEP, metrics
from stepgrid.plugins.registry import DRIVERS

OWN = "metrics"  # the setting of a step that names figures of its own


class Anything(set[str]):
    """The labels of an axis that only its cells tell."""

    def __contains__(self, name: object) -> bool:
        return True


class DeclaredNames(NamedTuple):
    exact: Mapping[str, set[str]]
    figures: set[str]
    seconds: Mapping[str, float]

    @property
    def labels(self) -> Mapping[str, set[str]]:
        return self.exact

    @property
    def names(self) -> set[str]:
        return Anything()


def declared(document: Document) -> DeclaredNames:
    axes = {name: _labels(axis) for name, axis in document.spec.sweep.items()}
    variables = {name: Anything() for step in _steps(document) for name in step.for_ or ()}
    exact = {**axes, **variables, BUILD: Anything(), STEP: _step_names(document)}
    return DeclaredNames(exact, _figures(document), {})


def _figures(document: Document) -> set[str]:
    """A kind that there is not may have figures of its own."""
    steps = [step for step in _steps(document) if step.use is None and step.kind is not None]
    if any(step.kind not in DRIVERS.names() for step in steps):
        return Anything()
    own = [step.model_extra.get(OWN) for step in _steps(document) if step.model_extra]
    probes = (str(probe.name) for probe in document.spec.probes)
    return {*metrics(), *probes, *(str(name) for each in own if isinstance(each, Mapping) for name in each)}


def _step_names(document: Document) -> set[str]:
    """Steps that run several times have names that are made of theirs."""
    if any(step.for_ or step.times or step.warmup for step in _steps(document)):
        return Anything()
    return {str(name) for step in _steps(document) for name in (step.use, step.name, step.as_) if name is not None}


def _labels(axis: Axis) -> set[str]:
    """Those of generated points are expressions."""
    if axis.groups or (axis.points is None and axis.values is None):
        return Anything()
    return {str(label) for label in (axis.points if axis.points is not None else axis.values or ())}


def _steps(document: Document) -> Iterator[Step]:
    yield from document.spec.steps or ()
    for library in (document.spec, *(source.library for source in document.includes)):
        for workload in library.define.workloads.values():
            yield from workload
