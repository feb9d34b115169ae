"""Machines: this host, one by name, or one described in place; a point of an axis may name another than the spec."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from stepgrid.expand.axes.axis import Axis
from stepgrid.expand.axes.points import Point
from stepgrid.expand.definitions import ResolvedDefinitions
from stepgrid.language.models import Hardware
from stepgrid.language.problems import Location, Problems
from stepgrid.language.spec_file import Document
from stepgrid.language.validation import describe, validate
from stepgrid.language.yaml import Map, Text, node_location

HERE = "here"

Differs: TypeAlias = Callable[[Mapping[str, Any]], Sequence[str]]


def stands_in_for_none(_: Mapping[str, Any]) -> Sequence[str]:
    return ()


class Machines:
    """Facts by what names them; `declared` is whether the spec says them or the host does.

    `differs`: where the host is not a described machine that it stands in for; then `real` is the host.
    """

    def __init__(
        self,
        document: Document,
        defined: ResolvedDefinitions,
        host: Mapping[str, Any],
        problems: Problems,
        differs: Differs = stands_in_for_none,
    ) -> None:
        self._defined, self._host, self._problems, self._differs = defined, host, problems, differs
        where = document.nodes.at.get("hardware", document.nodes.where)
        self.base = self._facts(document.nodes.get("hardware"), where)
        self._of_points: dict[Point, Mapping[str, Any]] = {}

    def learn(self, axes: Iterable[Axis]) -> None:
        """What the points of the axes name."""
        for axis in axes:
            for point in axis.points:
                if point.hardware is not None:
                    self._of_points[point] = self._facts(point.hardware, point.where)

    def of(self, points: Iterable[Point]) -> Mapping[str, Any]:
        """The machine of a cell with these points: the last that names one, else the spec's."""
        named = [self._of_points[point] for point in points if point in self._of_points]
        return named[-1] if named else self.base

    def _facts(self, given: Any, where: Location) -> Mapping[str, Any]:
        if given is None or given == HERE:
            return {**self._host, "declared": False}
        found = self._described(given, where)
        facts = found.model_dump(mode="json", exclude_none=True) if found is not None else {}
        if isinstance(given, Text) and found is not None:
            facts.setdefault("id", str(given))
        return self._or_stand_in({**facts, "declared": True}, node_location(given, where))

    def _or_stand_in(self, facts: Mapping[str, Any], where: Location) -> Mapping[str, Any]:
        differing = self._differs(facts)
        if not differing:
            return facts
        name = f"`{facts['id']}`" if "id" in facts else "the machine that is described here"
        message = f"this host stands in for {name}: {'; '.join(differing)}"
        self._problems.warn("other-hardware", where, message, "results are kept under this host's own id")
        return {**facts, "real": self._host}

    def _described(self, given: Any, where: Location) -> Hardware | None:
        if isinstance(given, Map):
            return validate(Hardware, given, self._problems)[0]
        if isinstance(given, Text) and given in self._defined.hardware:
            return self._defined.hardware[given]
        if isinstance(given, Text):
            self._problems.undefined("hardware", given, given.where, [HERE, *self._defined.hardware])
        else:
            message = f"`hardware`: expected a name or a map, found {describe(given)}"
            self._problems.add("wrong-type", node_location(given, where), message)
        return None
