"""What a plan's run would be on several equal machines: its jobs and groups, from what the store lacks. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from stepgrid.model.plan import Plan, PlannedCell
from stepgrid.plan.arms import BUILD
from stepgrid.plan.base_stages import chosen
from stepgrid.plan.fleet.schedule import Group, Job, Schedule, schedule
from stepgrid.plan.preview import Node, Preview

Key: TypeAlias = tuple[tuple[str, str], ...]  # labels on axes


@dataclass(frozen=True, slots=True)
class Fleet:
    schedule: Schedule
    alone: Schedule  # on one machine
    more: Schedule  # with one machine more
    groups: int
    unknown: int  # jobs of unknown length: they count as nothing

    @property
    def faster(self) -> float:
        return self.alone.seconds / self.schedule.seconds if self.schedule.seconds else 1.0


def fleet(found: Preview, machines: int) -> Fleet:
    running = found.running
    jobs, comparisons = [*_jobs(found.plan, running)], [*groups(found.plan, {node.status.id for node in running})]
    alone, here, more = (schedule(jobs, comparisons, count) for count in (1, machines, machines + 1))
    return Fleet(here, alone, more, len(comparisons), sum(node.seconds is None for node in running))


def _jobs(plan: Plan, running: Sequence[Node]) -> Iterator[Job]:
    stages = {stage.id: stage for stage in plan.stages}
    for node in running:
        said, stage = node.status, stages.get(node.status.id)
        rank, parent = (stage.rank, stage.parent) if stage else (0, None)
        yield Job(said.id, said.title, node.seconds or 0.0, parent, said.is_build, rank)


def groups(plan: Plan, running: Collection[str]) -> Iterator[Group]:
    """Of each load the cells that the report compares."""
    found: dict[tuple[Key, int], dict[str, None]] = {}
    for key, cell in keyed(plan):
        for load, stages in _stages(cell).items():
            found.setdefault((key, load), {}).update(dict.fromkeys(each for each in stages if each in running))
    for (key, load), jobs in found.items():
        if jobs:
            yield Group(", ".join([*(f"{axis}={label}" for axis, label in key), f"load {load + 1}"]), tuple(jobs))


def keyed(plan: Plan) -> Iterator[tuple[Key, PlannedCell]]:
    """Cells that the report compares have one key: they differ in builds, and on the axes of a base."""
    apart = {BUILD, *chosen(plan.axes, plan.report.base), *_bases_of_tables(plan)}
    for cell in plan.cells:
        yield tuple((axis, label) for axis, label in cell.labels.items() if axis not in apart), cell


def _bases_of_tables(plan: Plan) -> Iterator[str]:
    for table in plan.report.tables:
        base = table.get("base")
        yield from base if isinstance(base, Mapping) else ()


def _stages(cell: PlannedCell) -> Mapping[int, list[str]]:
    found: dict[int, list[str]] = {}
    for repeat in cell.repeats:
        found.setdefault(repeat.load, []).extend(repeat.stages)
    return found


def to_json(found: Fleet) -> dict[str, Any]:
    here = found.schedule
    return {
        "machines": here.machines,
        "seconds": here.seconds,
        "seconds_alone": found.alone.seconds,
        "seconds_with_one_more": found.more.seconds,
        "shortest_possible": here.bound,
        "seconds_unknown": found.unknown,
        "jobs": [
            {"id": each.job.id, "title": each.job.title, "machine": each.machine + 1, "start": each.start,
             "seconds": each.job.seconds, "made_elsewhere_too": each.again}
            for each in here.placed
        ],
    }  # fmt: skip
