"""Earlier plans: what this spec asked for before, and what others ask for now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from stepgrid.model.plan import Outline, Plan, PlannedBuild, PlannedStage
from stepgrid.plan import plan_file
from stepgrid.plan.difference import Link
from stepgrid.plan.plan_file import DAMAGED, is_intact
from stepgrid.store.store import Store

MOST = 40  # plans that are looked at, newest first

Place = tuple[frozenset[tuple[str, str]], int, int]  # labels, load, run


@dataclass(frozen=True)  # no slots: cached_property needs a dict
class EarlierPlan:
    """A plan that is kept."""

    folder: Path
    header: Mapping[str, Any]
    _stages: dict[str, PlannedStage] = field(default_factory=dict)
    _builds: dict[str, PlannedBuild] = field(default_factory=dict)

    @property
    def spec(self) -> tuple[str, str | None]:
        return str(self.header["spec"]), self.header["scale"]

    @cached_property
    def stages(self) -> frozenset[str]:
        return frozenset(stage["id"] for stage in self.header["stages"])

    @cached_property
    def builds(self) -> frozenset[str]:
        return frozenset(build["id"] for build in self.header["builds"])

    @cached_property
    def axes(self) -> frozenset[str]:
        return frozenset(axis["name"] for axis in self.header["axes"])

    @property
    def share(self) -> bool:
        return bool(self.header.get("share", True))

    def axes_of(self, root: str) -> list[str]:
        """The axes on which the first cell has a point whose stages begin with this one."""
        cells = (
            cell for cell in self.header["cells"] if any(repeat["stages"][0] == root for repeat in cell["repeats"])
        )
        return sorted(next((cell["labels"] for cell in cells), ()))

    def chains(self, axes: frozenset[str]) -> dict[Place, Sequence[str]]:
        """The chain of stages of each cell and repeat, by the labels that the cell has on these axes."""
        found: dict[Place, Sequence[str]] = {}
        for cell in self.header["cells"]:
            labels = frozenset((axis, label) for axis, label in cell["labels"].items() if axis in axes)
            for repeat in cell["repeats"]:
                found.setdefault((labels, repeat["load"], repeat["run"]), repeat["stages"])
        return found

    def links(self, chain: Sequence[str]) -> list[Link]:
        """A chain of stages in full; none when an older version wrote them, in a way that is not read any more."""
        try:
            return [Link.of(self._stage(node), self._build) for node in chain]
        except DAMAGED:
            return []

    def _stage(self, node: str) -> PlannedStage:
        if node not in self._stages:
            self._stages[node] = plan_file.stage(self.folder, node)
        return self._stages[node]

    def _build(self, node: str) -> PlannedBuild:
        if node not in self._builds:
            self._builds[node] = plan_file.build(self.folder, node)
        return self._builds[node]


def earlier(store: Store, plan: Plan) -> list[EarlierPlan]:
    """All plans but this one, newest first; one that cannot be read is no plan."""
    return [each for each in _plans(store) if each.folder.name != plan.digest]


def recent(store: Store, most: int) -> Iterator[EarlierPlan]:
    """The newest plans, this one among them, each read when it is its turn."""
    for folder in _newest(store)[:most]:
        with suppress(*DAMAGED):
            if is_intact(folder):
                yield EarlierPlan(folder, plan_file.read_header(folder))


def before(store: Store, plan: Plan | Outline, most: int = 4) -> Iterator[Outline]:
    """The newest other plans of its spec."""
    own = plan.spec, plan.scale
    others = (each for each in recent(store, MOST) if each.folder.name != plan.digest)
    found = (each.folder for each in others if (each.header.get("spec"), each.header.get("scale")) == own)
    for folder in islice(found, most):
        with suppress(*DAMAGED):  # an older version wrote it
            yield plan_file.outline(folder)


def of_spec(plans: Sequence[EarlierPlan], plan: Plan) -> list[EarlierPlan]:
    return [each for each in plans if each.spec == (plan.spec, plan.scale)]


def elsewhere(plans: Sequence[EarlierPlan], plan: Plan) -> dict[str, str]:
    """Nodes of the newest plans of other specs -> such a spec."""
    newest = {each.spec: each for each in reversed(plans) if each.spec[0] != plan.spec}
    return {node: spec for (spec, _), each in newest.items() for node in (*each.stages, *each.builds)}


def abandoned(plans: Sequence[EarlierPlan], plan: Plan) -> set[str]:
    """Stages that this spec had and has no longer, and that no other spec or scale has."""
    newest = {each.spec: each for each in reversed(plans) if each.spec != (plan.spec, plan.scale)}
    kept = {stage.id for stage in plan.stages}.union(*(each.stages for each in newest.values()))
    return {stage for each in of_spec(plans, plan) for stage in each.stages} - kept


def _plans(store: Store) -> Iterator[EarlierPlan]:
    for folder in _newest(store)[:MOST]:
        try:
            found = EarlierPlan(folder, plan_file.read_header(folder))
            if is_intact(folder) and found.spec[0] and found.axes and found.builds and found.stages:
                yield found
        except DAMAGED:
            continue


def _newest(store: Store) -> list[Path]:
    parent = store.plan("_").parent
    folders = [path.parent for path in parent.glob("*/plan.json") if not path.parent.name.startswith(".")]
    return sorted(folders, key=lambda folder: ((folder / plan_file.HEADER).stat().st_mtime, folder.name), reverse=True)
