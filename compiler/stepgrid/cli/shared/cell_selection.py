"""A cell as a person names it: by its id, or by the labels that only it has."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from stepgrid.cli.shared import spec_arguments
from stepgrid.errors import StepgridError
from stepgrid.language.problems import nearest
from stepgrid.model.plan import Plan, PlannedCell
from stepgrid.plan import stage_selection


class SelectionError(StepgridError):
    """No such thing, or too many: a sentence that says what there is."""


def found(plan: Plan, name: str) -> PlannedCell:
    if "=" not in name:
        return _by_id(plan, name)
    cells = list(plan.cells)
    for part in name.split(","):
        axis, _, label = part.strip().partition("=")
        cells = _narrowed(plan, cells, axis.strip(), label.strip())
    if len(cells) > 1:
        raise SelectionError(f"{len(cells)} cells have {name}: say more, {_open(plan, cells)}")
    return cells[0]


def _by_id(plan: Plan, name: str) -> PlannedCell:
    cells = [cell for cell in plan.cells if cell.id == name] or [c for c in plan.cells if c.id.startswith(name)]
    if len(cells) != 1:
        what = "more than one cell begins with" if cells else "there is no cell"
        axes = ",".join(f"{axis}={label}" for axis, label in plan.cells[0].labels.items())
        raise SelectionError(f"{what} `{name}`: give a cell's id, or its labels, such as {axes}")
    return cells[0]


def _narrowed(plan: Plan, cells: Sequence[PlannedCell], axis: str, label: str) -> list[PlannedCell]:
    known = {each.name: each.labels for each in plan.axes}
    if axis not in known:
        raise SelectionError(f"there is no axis `{axis}`: {nearest(axis, known)}")
    if label not in known[axis]:
        raise SelectionError(f"axis `{axis}` has no cell at `{label}`: {nearest(label, known[axis])}")
    left = [cell for cell in cells if cell.labels.get(axis) == label]
    if not left:
        there = sorted({cell.labels[axis] for cell in cells if axis in cell.labels})
        raise SelectionError(
            f"no cell has {axis}={label} beside the rest; there is {', '.join(there) or 'none with it'}"
        )
    return left


def _open(plan: Plan, cells: Sequence[PlannedCell]) -> str:
    """The axes on which they differ."""
    open_ = {axis.name: {cell.labels.get(axis.name) for cell in cells} for axis in plan.axes}
    texts = (f"{name}={'|'.join(sorted(map(str, labels)))}" for name, labels in open_.items() if len(labels) > 1)
    return ", ".join(texts)


# The cells and stages of a spec that a command is about, as a person names them.


def arguments(parser: argparse.ArgumentParser, cells: str) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a spec file, such as specs/quickstart.yaml")
    parser.add_argument("cells", nargs="*", metavar="CELL", help=cells)
    spec_arguments.narrowing(parser)


def plan_of(args: argparse.Namespace) -> Plan | int:
    """The plan, or the exit status once its problems were printed."""
    plan = spec_arguments.quietly(args, args.spec)
    return 1 if plan is None else plan


def cells_of(plan: Plan, names: Sequence[str]) -> list[PlannedCell]:
    """All of them where none is named. Nothing says which there are."""
    return [found(plan, name) for name in names] or list(plan.cells)


def check_steps(plan: Plan, names: Sequence[str]) -> None:
    there = stage_selection.step_names(plan)
    for name in names:
        if name not in there:
            raise SelectionError(f"there is no step `{name}`: {nearest(name, there)}")


def refused(wrong: SelectionError) -> int:
    print(wrong, file=sys.stderr)
    return 2
