"""What every expression sees of a choice, apart from params and options."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from stepgrid.expand.axes.axis import Axis
from stepgrid.expand.axes.choice import Choice
from stepgrid.expand.axes.label import Label
from stepgrid.expand.builds import Build
from stepgrid.expand.hardware import Machines
from stepgrid.language.expressions import ExpressionError
from stepgrid.language.problems import nearest
from stepgrid.language.scalars import Version
from stepgrid.plugins.registry import engine

_ANY_VERSION = "9999"


class Names:
    def __init__(self, axes: Sequence[Axis], machines: Machines) -> None:
        self._axes, self._machines = axes, machines

    def positions(self, axes: Iterable[int]) -> dict[str, set[int]]:
        """For each name the axes that it depends on."""
        found: dict[str, set[int]] = defaultdict(set)
        for position in axes:
            axis = self._axes[position]
            made_of = {name for point in axis.points for name in point.variables}
            hardware = {"hardware"} if any(point.hardware is not None for point in axis.points) else set()
            for name in {axis.name} | made_of | hardware:
                found[name].add(position)
        return found

    def of(self, choice: Choice, axes: Iterable[int] | None = None) -> dict[str, Any]:
        """`axes`: those that may be seen, by their positions; left out: all."""
        shown = range(len(self._axes)) if axes is None else axes
        points = [(self._axes[axis].name, point) for axis in shown if (point := choice.points[axis]) is not None]
        names: dict[str, Any] = {axis: Label(point.label) for axis, point in points}
        for _, point in points:
            names |= point.variables
        machine = self._machines.of(point for _, point in points)
        return names | self.of_build(choice.build) | {"hardware": Machine.of(machine, names.get("hardware"))}

    def of_build(self, build: Build) -> dict[str, Any]:
        names: dict[str, Any] = {"build": Label(build.name, frozenset({build.family})), "engine": build.engine}
        names |= {"hardware": Machine.of(self._machines.base, None), "has": _capability(build.engine, build.version)}
        if build.version:
            names["version"] = Version(build.version)
        return names


class Machine(Label):
    """`hardware` in an expression: its facts by name, and itself equal to its label or id."""

    facts: Mapping[str, Any]

    @classmethod
    def of(cls, facts: Mapping[str, Any], label: str | None) -> Machine:
        names = frozenset(str(name) for name in (facts.get("id"), label) if name)
        self = cls(label or str(facts.get("id", "here")), names)
        self.facts = facts
        return self

    def __getitem__(self, name: Any) -> Any:
        return self.facts[name]


@lru_cache(maxsize=1024)
def _capability(engine_name: str, version: str) -> Any:
    found = engine(engine_name)
    known = found.capabilities(_ANY_VERSION)
    having = found.capabilities(version) if version else frozenset()

    def has(asked: object) -> bool:
        name = str(asked)
        if not version:
            message = f"`has('{name}')` goes by the version of the build, which has none"
            raise ExpressionError(message, hint="give the build a `version:` or `versions:`")
        if name not in known | having:
            raise ExpressionError(f"{engine_name} has no capability `{name}`", hint=nearest(name, known))
        return name in having

    return has
