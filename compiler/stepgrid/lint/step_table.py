"""The distinct steps of all cells as a table with a column per name: a rule costs what its names vary, not the grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from stepgrid.expand.builds import Build
from stepgrid.expand.cells import Cell
from stepgrid.expand.steps.resolved_step import ResolvedStep, Segment
from stepgrid.plugins.driver import StepDescriber
from stepgrid.plugins.registry import driver

Place: TypeAlias = tuple[int, int]
_OF_ANY_STEP: Mapping[str, Callable[[Row], Any]] = {
    "step": lambda row: row.step.head.name,
    "kind": lambda row: row.step.head.kind,
    "measured": lambda row: row.step.head.measured,
    "build": lambda row: row.build.name,
}


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One step as some cells run it, as far as rules can see."""

    step: ResolvedStep
    build: Build
    hardware: Mapping[str, Any]
    places: list[Place] = field(default_factory=list)  # the segments and machines that it stands in, by their ids


class Table:
    def __init__(self, cells: Sequence[Cell], read: frozenset[str]) -> None:
        """`read`: the options that rules look at."""
        self._cells: dict[Place, list[int]] = {}
        self._groups = _groups(cells, read, self._cells)
        self.rows = [row for group in self._groups for row in group.rows]
        self._columns: dict[str, Sequence[Any]] = {}
        self._values: dict[str, set[Any]] = {}

    def cells(self, row: Row) -> set[int]:
        """The positions of the cells that run it."""
        return set().union(*(self._cells[place] for place in row.places))

    def column(self, name: str) -> Sequence[Any]:
        if name not in self._columns:
            self._columns[name] = self._made(name)
        return self._columns[name]

    def values(self, name: str) -> set[Any]:
        """What a column holds, each once."""
        if name not in self._values:
            self._values[name] = set(self.column(name))
        return self._values[name]

    def _made(self, name: str) -> Sequence[Any]:
        head, _, rest = name.partition(".")
        if head == "step" and rest:
            return [_hashable(row.step.settings.values.get(rest)) for row in self.rows]
        if head == "hardware":
            return [_inside(row.hardware, rest) for row in self.rows]
        if name in _OF_ANY_STEP:
            return list(map(_OF_ANY_STEP[name], self.rows))
        if any(name in facts for facts in self._facts):
            return [facts.get(name) for facts in self._facts]
        take = _policy if rest == "unsupported" else _value
        return [value for group in self._groups for value in group.column(head, take)]

    @cached_property
    def _facts(self) -> Sequence[Mapping[str, Any]]:
        """What the kinds of the steps know beyond options and settings."""
        known: dict[tuple[int, int], Mapping[str, Any]] = {}
        for row in self.rows:
            if (key := (id(row.step.settings), id(row.build))) not in known:
                kind = driver(row.step.head.kind)
                told = kind.facts(row.step.settings.values, row.build) if isinstance(kind, StepDescriber) else {}
                known[key] = told
        return [known[id(row.step.settings), id(row.build)] for row in self.rows]


class _Group:
    """The rows of one step of a build: their options come in the same parts, most of them the same in all rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        parts = [row.step.options.parts for row in rows]
        columns = list(zip(*parts, strict=True)) if len({len(one) for one in parts}) == 1 else []
        self._parts = [{id(part): part for part in column} for column in columns]
        self._ids = [list(map(id, column)) for column in columns]
        self._alone = None if columns or not any(parts) else [dict(row.step.options) for row in rows]

    def column(self, name: str, take: Callable[[Any], Any]) -> Sequence[Any]:
        if self._alone is not None:
            return [take(options.get(name)) for options in self._alone]
        held = [n for n, parts in enumerate(self._parts) if any(name in part for part in parts.values())]
        columns = [self._of(n, name, take) for n in held]
        if len(columns) == 1:
            return columns[0]
        return [next((v for v in values if v is not None), None) for values in zip(*columns, strict=True)] or (
            [None] * len(self.rows)
        )

    def _of(self, position: int, name: str, take: Callable[[Any], Any]) -> Sequence[Any]:
        values = {key: take(part.get(name)) for key, part in self._parts[position].items()}
        return list(map(values.__getitem__, self._ids[position]))


def _groups(cells: Sequence[Cell], read: frozenset[str], by_place: dict[Place, list[int]]) -> list[_Group]:
    relevant = _Relevant(read)
    heads: dict[tuple[int, int], dict[tuple[int, ...], Row]] = {}
    for place, (segment, cell) in _segments(cells, by_place).items():
        for step in segment.steps:
            rows = heads.setdefault((id(step.head), place[1]), {})
            seen = (id(step.settings), *relevant.parts(step.options.parts))
            if seen not in rows:
                rows[seen] = Row(step, cell.choice.build, cell.hardware)
            rows[seen].places.append(place)
    return [_Group(list(rows.values())) for rows in heads.values()]


def _segments(cells: Sequence[Cell], by_place: dict[Place, list[int]]) -> dict[Place, tuple[Segment, Cell]]:
    """The distinct segments with a cell that has them; which cells do is noted in `by_place`."""
    first: dict[Place, tuple[Segment, Cell]] = {}
    for position, cell in enumerate(cells):
        machine = id(cell.hardware)
        for segment in cell.segments:
            place = (id(segment), machine)
            if place in by_place:
                by_place[place].append(position)
            else:
                by_place[place], first[place] = [position], (segment, cell)
    return first


class _Relevant:
    """Parts of options that hold a name which a rule reads: steps that differ in others alone are one row."""

    def __init__(self, read: frozenset[str]) -> None:
        self._read = read
        self._known: dict[int, bool] = {}

    def parts(self, parts: Sequence[Mapping[str, Any]]) -> list[int]:
        known = self._known
        for part in parts:
            if id(part) not in known:
                known[id(part)] = not self._read.isdisjoint(part)
        return [key for part in parts if known[key := id(part)]]


def _value(option: Any) -> Any:
    return None if option is None else option.value


def _policy(option: Any) -> Any:
    return None if option is None else option.unsupported


def _inside(facts: Mapping[str, Any], path: str) -> Any:
    """facts["storage"]["max_sectors_kb"] by `storage.max_sectors_kb`; None where there is none."""
    value: Any = facts
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else str(value) if isinstance(value, dict) else value


def combinations(columns: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """The distinct rows of some columns, in order."""
    return list(dict.fromkeys(zip(*columns, strict=True)))
