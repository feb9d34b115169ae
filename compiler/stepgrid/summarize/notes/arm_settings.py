"""What the arms of a comparison set: the inputs in which the points of an axis differ, with the value of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepgrid.model.plan import BUILD, Axis, PlannedCell
from stepgrid.model.table import NOTHING, Cell, Table, columns
from stepgrid.plan import difference
from stepgrid.plan.difference import Input, Link, differences

MOST_INPUTS = 12  # inputs of an axis
# what a repetition or a version of this program changes
_OTHERS = ("load", "run", "checkpoints before it")

Chains = dict[str, Sequence[str]]  # label -> the stages of a cell that has it
Values = dict[str, tuple[str, ...]]  # input -> its value at each label


@dataclass(frozen=True, slots=True)
class ArmSettings:
    """Of one axis."""

    axis: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # input, its value at each label

    @property
    def table(self) -> Table:
        heads = columns((), (self.axis, *self.labels))
        rows = tuple(tuple(map(Cell, (name, *values))) for name, values in self.rows[:MOST_INPUTS])
        more = len(self.rows) - MOST_INPUTS
        notes = (f"and {more} more: `stepgrid explain SPEC` has all",) if more > 0 else ()
        return Table(f"what {self.axis} sets", heads, rows, notes=notes)

    @property
    def sentences(self) -> Iterator[tuple[str, str]]:
        """gc=sd8k; rocksdb_compaction_sequential_deletes 8191, …"""
        for index, label in enumerate(self.labels):
            said = [f"{name} {values[index]}" for name, values in self.rows[:MOST_INPUTS] if values[index] != NOTHING]
            more = len(self.rows) - MOST_INPUTS
            yield f"{self.axis}={label}", "; ".join([*said, *([f"and {more} more"] if more > 0 else [])])


def arm_settings(
    cells: Sequence[PlannedCell], axes: Sequence[Axis], links: Callable[[Sequence[str]], list[Link]]
) -> Iterator[ArmSettings]:
    """Of each axis but the builds, which a report has a list of. `links`: of a chain of stages."""
    for axis in axes:
        if axis.name != BUILD and len(axis.labels) > 1:
            found = {build: _values(axis, chains, links) for build, chains in _chains(cells, axis.name)}
            if rows := [row for row in _joined(found) if row[1] != axis.labels]:
                yield ArmSettings(axis.name, axis.labels, tuple(rows))


def _chains(cells: Sequence[PlannedCell], axis: str) -> list[tuple[str, Chains]]:
    """Of each build the cells that differ in this axis alone, where most of its labels are."""
    found: dict[str, dict[frozenset[tuple[str, str]], Chains]] = {}
    for cell in cells:
        labels = dict(cell.labels)
        if own := labels.pop(axis, None):
            rest = found.setdefault(labels.get(BUILD, cell.build), {}).setdefault(frozenset(labels.items()), {})
            rest.setdefault(own, cell.repeats[0].stages)
    return [(build, max(alike.values(), key=len)) for build, alike in found.items()]


def _values(axis: Axis, chains: Chains, links: Callable[[Sequence[str]], list[Link]]) -> Values:
    """Each against the first label; what does not differ from it has its value."""
    labels = [label for label in axis.labels if label in chains]
    first = links(chains[labels[0]])
    changed = {label: _changed(differences(first, links(chains[label]))) for label in labels[1:]}
    fields = dict.fromkeys(field for each in changed.values() for field in each)
    found: Values = {}
    for field in fields:
        base = next(each[field][0] for each in changed.values() if field in each)
        known = {label: each[field][1] if field in each else base for label, each in changed.items()}
        known[labels[0]] = base
        found[field.removeprefix("options.")] = tuple(known.get(label, NOTHING) for label in axis.labels)
    return found


def _changed(found: Sequence[Input]) -> dict[str, tuple[str, str]]:
    """Old and new of each; an input that steps have with several values has all of them."""
    sides: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for each in found:
        if each.field not in _OTHERS and not each.field.startswith("revision of ") and ": seed" not in each.field:
            for side, value in zip(sides.setdefault(each.field, ({}, {})), (each.old, each.new), strict=True):
                side[difference.value_text(value, difference.may_be_size(each.field))] = None
    return {field: (", ".join(old), ", ".join(new)) for field, (old, new) in sides.items()}


def _joined(found: Mapping[str, Values]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """An input that is the same of all builds once, else with the build."""
    for name in dict.fromkeys(name for values in found.values() for name in values):
        having: dict[tuple[str, ...], list[str]] = {}
        for build, inputs in found.items():
            if name in inputs:
                having.setdefault(inputs[name], []).append(build)
        for values, builds in having.items():
            yield name if len(builds) == len(found) else f"{name} ({', '.join(builds)})", values
