"""Everything that rules look at: a spec, its cells, a table of their distinct steps, and locations for findings.

The table has a column per name, so a rule costs what its names vary, not the grid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, TypeAlias

from msgspec import Struct

from stepgrid.expand.builds import Build
from stepgrid.expand.cells import Cell, Expansion
from stepgrid.expand.evaluation import ResolvedStep, Segment
from stepgrid.language.models import SpecStep
from stepgrid.language.problems import Location
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map, key_location, node_location
from stepgrid.model.table import group
from stepgrid.plugins.driver import Counting, StepDescriber
from stepgrid.plugins.registry import driver

COUNTED = "counted"  # fact of a step: its CountedWork
SegmentKey: TypeAlias = tuple[int, int]  # ids of a segment and of the machine that runs it


class LintSubject:
    def __init__(self, document: Document, expansion: Expansion, options: frozenset[str]) -> None:
        """`options`: those that rules read."""
        self.document, self.expansion = document, expansion
        self.places = Places(document, expansion)
        self.table = StepTable(expansion.cells, options)

    @property
    def spec(self) -> Any:
        return self.document.spec

    @property
    def cells(self) -> Sequence[Cell]:
        return self.expansion.cells

    def labels(self, position: int) -> Mapping[str, str]:
        """Map axes to labels of a cell, with its `build`."""
        choice = self.cells[position].choice
        points = zip(self.expansion.axes, choice.points, strict=True)
        return {"build": choice.build.name, **{axis.name: point.label for axis, point in points if point is not None}}

    def location(self, row: StepRow, name: str) -> Location:
        """Locate an option or a setting (`step.NAME`), the `step` or its `build`."""
        if name == "build":
            return row.build.where
        option = row.step.options.get(name)
        if option is not None and option.where:
            return Location.read(option.where)
        return self.places.of_step(row.step.head.name, name.removeprefix("step.") if "." in name else None)


class Places:
    """Locations in a spec: resolved values remember theirs only as far as their option or node does."""

    _SUFFIX = re.compile(r"(\[.*\])?(\.\d+)?(\.warmup)?$", re.DOTALL)  # what `for`, `times` and `warmup` add to a name

    def __init__(self, document: Document, expansion: Expansion) -> None:
        self._document, self._expansion = document, expansion
        self.of_step = cache(self._of_step)
        steps = document.spec.steps or ()  # a spec may have thousands
        self._uses = group((str(step.as_ or step.use or step.name), step) for step in steps)

    def key(self, *path: str) -> Location:
        """Locate a key of the spec, or the nearest above it."""
        node: Any = self._document.nodes
        where = self._document.nodes.at.get("title", self._document.nodes.where)
        for name in path:
            if not isinstance(node, Map) or name not in node:
                break
            where, node = node.at[name], node[name]
        return where

    def _of_step(self, name: str, setting: str | None, value: str | None = None) -> Location:
        """Locate a setting of a step (in the step, its definition, an axis, params), or the name of the step.

        `value`: the setting is where it has that."""
        steps = list(self._steps_named(name)) or list(self._steps_named(self._SUFFIX.sub("", name)))
        located = self._setting_locations(steps, setting) if setting is not None else iter(())
        settings = (where for node, where in located if value in (None, str(node)))
        names = (label.where for step in steps for label in (step.as_, step.use, step.name) if label is not None)
        return next(settings, None) or next(names, None) or self.key("steps")

    def _setting_locations(self, steps: list[SpecStep], setting: str) -> Iterator[tuple[Any, Location]]:
        for step in steps:
            for settings in (step.model_extra or {}, step.params):
                if setting in settings:
                    yield settings[setting], node_location(settings[setting], self.key("steps"))
        for axis in self._expansion.axes:
            for point in axis.points:
                if point.params and setting in point.params:
                    yield point.params[setting], key_location(point.params[setting], axis.where)
        spec = self._document.spec
        for params in (*(build.params for build in spec.builds.values()), spec.params):
            if setting in params:
                yield params[setting], key_location(params[setting], self.key("params", setting))

    def _steps_named(self, name: str) -> Iterator[SpecStep]:
        """List uses before definitions, which are in the workload of the spec: a step of its own has none."""
        uses = self._uses.get(name, ())
        yield from uses
        has_steps = self._document.spec.steps is not None
        names = {str(step.use) for step in uses if step.use is not None} if has_steps else {name}
        spec, includes = self._document.spec, self._document.includes
        definitions = (spec.define, *(source.library.define for source in includes))
        workload = next((d.workloads[spec.workload] for d in definitions if spec.workload in d.workloads), ())
        yield from (step for step in workload if step.name is not None and str(step.name) in names)


class StepRow(Struct, frozen=True, eq=False):
    """A step as some cells run it, as far as rules can see."""

    step: ResolvedStep
    build: Build
    hardware: Mapping[str, object]
    segments: list[SegmentKey] = []  # that it stands in


_COLUMNS: Mapping[str, Callable[[StepRow], Any]] = {
    "step": lambda row: row.step.head.name,
    "kind": lambda row: row.step.head.kind,
    "measured": lambda row: row.step.head.measured,
    "until": lambda row: row.step.setup.values.until,
    "build": lambda row: row.build.name,
}


class StepTable:
    def __init__(self, cells: Sequence[Cell], options: frozenset[str]) -> None:
        self._cells: dict[SegmentKey, list[int]] = {}  # positions of the cells with a segment
        self.rows = self._group(cells, options)
        self.column = cache(self._column)
        self.values = cache(lambda name: set(self.column(name)))

    def cells(self, row: StepRow) -> set[int]:
        """Return the positions of the cells that run a step."""
        return set().union(*(self._cells[key] for key in row.segments))

    def _group(self, cells: Sequence[Cell], options: frozenset[str]) -> list[StepRow]:
        """Make the rows of each step of a build; steps that differ in options that no rule reads are one row."""
        first: dict[SegmentKey, tuple[Segment, Cell]] = {}
        for position, cell in enumerate(cells):
            for segment in cell.segments:
                key = (id(segment), id(cell.hardware))
                first.setdefault(key, (segment, cell))
                self._cells.setdefault(key, []).append(position)
        is_read: dict[int, bool] = {}  # by id of a part of the options
        rows: dict[tuple[int, ...], StepRow] = {}
        for key, (segment, cell) in first.items():
            for step in segment.steps:
                for part in step.options.parts:
                    if id(part) not in is_read:
                        is_read[id(part)] = not options.isdisjoint(part)
                read_parts = [id(part) for part in step.options.parts if is_read[id(part)]]
                distinct = (id(step.head), key[1], id(step.settings), *read_parts)
                if distinct not in rows:
                    rows[distinct] = StepRow(step, cell.choice.build, cell.hardware)
                rows[distinct].segments.append(key)
        return list(rows.values())

    def _column(self, name: str) -> Sequence[Any]:
        head, _, tail = name.partition(".")
        if head == "step" and tail:
            values = [row.step.settings.values.get(tail) for row in self.rows]
            return [tuple(v) if isinstance(v, list) else str(v) if isinstance(v, dict) else v for v in values]
        if head == "hardware":
            return [_entry(row.hardware, tail) for row in self.rows]
        if name in _COLUMNS:
            return list(map(_COLUMNS[name], self.rows))
        if any(name in facts for facts in self._facts):
            return [facts.get(name) for facts in self._facts]
        attribute = "unsupported" if tail == "unsupported" else "value"
        return [getattr(row.step.options.get(head), attribute, None) for row in self.rows]

    @cached_property
    def _facts(self) -> Sequence[Mapping[str, object]]:
        """Facts of the steps' kinds, beyond options and settings."""

        kinds = {row.step.head.kind: driver(row.step.head.kind) for row in self.rows}
        counting = {name: kind for name, kind in kinds.items() if isinstance(kind, Counting)}
        describers = {name: kind for name, kind in kinds.items() if isinstance(kind, StepDescriber)}

        def facts(row: StepRow) -> Mapping[str, object]:
            kind, settings = row.step.head.kind, row.step.settings.values
            work = counting[kind].counted_work(settings) if kind in counting else None
            described = describers[kind].facts(settings, row.build) if kind in describers else {}
            return {**described, COUNTED: work}

        distinct = {(id(row.step.settings), id(row.build)): row for row in self.rows}
        by_key = {key: facts(row) for key, row in distinct.items()}
        return [by_key[id(row.step.settings), id(row.build)] for row in self.rows]


def _entry(facts: Mapping[str, object], path: str) -> Any:
    """Return facts["storage"]["max_sectors_kb"] for `storage.max_sectors_kb`."""
    value: Any = facts
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
