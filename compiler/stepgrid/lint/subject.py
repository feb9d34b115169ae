"""What rules look at: a spec, its cells, the table of their steps, and where things stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepgrid.expand.cells import Cell, Expansion
from stepgrid.language.problems import Location
from stepgrid.language.spec_file import Document
from stepgrid.lint.spec_places import Places
from stepgrid.lint.step_table import Row, Table


class Subject:
    def __init__(self, document: Document, expansion: Expansion, read: frozenset[str]) -> None:
        self.document, self.expansion = document, expansion
        self.places = Places(document, expansion)
        self.table = Table(expansion.cells, read)

    @property
    def spec(self) -> Any:
        return self.document.spec

    @property
    def cells(self) -> Sequence[Cell]:
        return self.expansion.cells

    def labels(self, position: int) -> Mapping[str, str]:
        """Axis -> label of a cell; `build` is always there."""
        choice = self.cells[position].choice
        points = zip(self.expansion.axes, choice.points, strict=True)
        return {"build": choice.build.name, **{axis.name: point.label for axis, point in points if point is not None}}

    def where(self, row: Row, name: str) -> Location:
        """Where an option or a setting (`step.NAME`), the `step` or its `build` was said."""
        if name == "build":
            return row.build.where
        option = row.step.options.get(name)
        if option is not None and option.where:
            return self.places.parsed(option.where)
        setting = name.removeprefix("step.") if name.startswith("step.") else None
        return self.places.of_step(row.step.head.name, setting)
