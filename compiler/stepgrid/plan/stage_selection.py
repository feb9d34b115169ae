"""The stages that are meant when cells and steps of a plan are named. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from stepgrid.model.plan import CellStep, Plan, PlannedCell


def stages(cells: Iterable[PlannedCell], steps: Collection[str] = (), load: bool = False) -> list[str]:
    """Of every repeat of these cells, in order: those of the named steps, else all that follow the load.

    `load`: from the load on; what starts from it in these cells is meant too.
    """
    found = {stage: None for cell in cells for stage in _of_cell(cell, steps, load)}
    return list(found)


def step_names(plan: Plan) -> list[str]:
    """What a step may be called: by its name, or by that of all that `times` and `for` made of it."""
    names = {name: None for cell in plan.cells for step in cell.steps for name in _names(step)}
    return list(names)


def _of_cell(cell: PlannedCell, steps: Collection[str], load: bool) -> Iterator[str]:
    wanted = {step.stage for step in cell.steps if _names(step) & {*steps}}
    if steps and not wanted:
        return
    for repeat in cell.repeats:
        after = 0 if len(repeat.stages) == 1 else 1  # without a checkpoint the load is all there is
        for position, stage in enumerate(repeat.stages):
            if load or (position in wanted if steps else position >= after):
                yield stage


def _names(step: CellStep) -> set[str]:
    return {step.name, step.step or step.name}
