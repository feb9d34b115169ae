"""The axes of what was measured: builds, what differs beside them, what was tried on one database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stepgrid.model.plan import Axis
from stepgrid.plan.base_stages import BUILD
from stepgrid.plugins.importer import Measured


def axes(steps: Sequence[Measured]) -> Iterator[Axis]:
    yield Axis(BUILD, tuple(dict.fromkeys(step.build for step in steps)))
    for name in dict.fromkeys(name for step in steps for name in step.labels):
        yield Axis(name, _ordered(step.labels[name] for step in steps if name in step.labels))
    for name in dict.fromkeys(name for step in steps for name in step.variables):
        having = [step for step in steps if name in step.variables]
        changed = tuple(dict.fromkeys(step.step for step in having))
        yield Axis(name, _ordered(step.variables[name] for step in having), changed)


def _ordered(labels: Iterable[str]) -> tuple[str, ...]:
    """Numbers as such, others as they come."""
    found = tuple(dict.fromkeys(labels))
    return tuple(sorted(found, key=int)) if all(label.isdecimal() for label in found) else found
