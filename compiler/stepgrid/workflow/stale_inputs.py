"""For every stage that must run: the most similar one that has a result, and the inputs that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from stepgrid.model.plan import Plan, PlannedCell, Repeat
from stepgrid.plan.difference import Input, Link, differences
from stepgrid.store.history.earlier_plans import EarlierPlan, Place
from stepgrid.store.store import Store

SAME = "no input differs that a plan records: another version of stepgrid planned the earlier result"
PLANS, STAGES, CELLS = 4, 400, 3  # how many are looked at: plans, stages of a plan, cells of a stage

Spot = tuple[PlannedCell, Repeat, int]  # where a stage stands: cell, repeat, position in the chain


@dataclass(frozen=True, slots=True)
class Comparison:
    because: str = ""
    inputs: tuple[Input, ...] = ()
    old: Sequence[Link] = ()  # the chain of the stage that it was compared with


def compare(plan: Plan, store: Store, earlier: Sequence[EarlierPlan], stale: Sequence[str]) -> dict[str, Comparison]:
    """`earlier`: plans of the same spec, newest first."""
    if not earlier or not stale:
        return {}
    comparer = _Comparer(plan, store, earlier[:PLANS])
    found = {node: comparer.compared(node) for node in stale[:STAGES]}
    return found | {node: Comparison(f"not compared: more than {STAGES} stages differ") for node in stale[STAGES:]}


class _Comparer:
    def __init__(self, plan: Plan, store: Store, earlier: Sequence[EarlierPlan]) -> None:
        self._store, self._share = store, plan.share
        self._stages = {stage.id: stage for stage in plan.stages}
        self._builds = {build.id: build for build in plan.builds}
        self._spots = _spots(plan)
        axes = frozenset(axis.name for axis in plan.axes)
        self._earlier = [(each, each.axes & axes, each.chains(each.axes & axes)) for each in earlier]

    def compared(self, node: str) -> Comparison:
        spots = self._spots[node][:CELLS]
        chains = [(each, each.links(chain)) for spot in spots for each, chain in self._candidates(spot)]
        found = [self._against(each, old, spots[0]) for each, old in chains if old]
        if found:
            return min(found, key=lambda comparison: len(comparison.inputs))
        return Comparison(self._why(spots[0]))

    def _against(self, each: EarlierPlan, old: Sequence[Link], spot: Spot) -> Comparison:
        cell, repeat, position = spot
        new = [Link.of(self._stages[node], self._builds.__getitem__) for node in repeat.stages]
        inputs = (*self._sharing(each, old, cell), *differences(old, new[: position + 1]))
        return Comparison("" if inputs else SAME, inputs, old)

    def _sharing(self, each: EarlierPlan, old: Sequence[Link], cell: PlannedCell) -> Iterator[Input]:
        """A cell that shares nothing is an input of its stages, by its labels."""
        if each.share != self._share:
            yield Input("share", each.share, self._share)
        elif not self._share and (axes := each.axes_of(old[0].stage.id)) != sorted(cell.labels):
            yield Input("axes of the cell (share: false)", axes, sorted(cell.labels))

    def _candidates(self, spot: Spot) -> Iterator[tuple[EarlierPlan, Sequence[str]]]:
        """The chains that stood at the same place of the same cell, as far as they have results."""
        return islice(self._all_candidates(spot), PLANS)

    def _all_candidates(self, spot: Spot) -> Iterator[tuple[EarlierPlan, Sequence[str]]]:
        cell, repeat, position = spot
        for each, axes, chains in self._earlier:
            chain = chains.get(_place(cell, repeat, axes), ())[: position + 1]
            if len(chain) == position + 1 and chain[-1] not in self._stages and self._store.result(chain[-1]):
                yield each, chain

    def _why(self, spot: Spot) -> str:
        cell, repeat, _ = spot
        _, axes, chains = self._earlier[0]
        if _place(cell, repeat, axes) in chains:
            return "was not measured yet"
        first = Repeat(0, 0, ())
        return "a further repeat" if _place(cell, first, axes) in chains else "a new cell"


def _place(cell: PlannedCell, repeat: Repeat, axes: frozenset[str]) -> Place:
    labels = frozenset((axis, label) for axis, label in cell.labels.items() if axis in axes)
    return labels, repeat.load, repeat.run


def _spots(plan: Plan) -> Mapping[str, Sequence[Spot]]:
    found: dict[str, list[Spot]] = {}
    for cell in plan.cells:
        for repeat in cell.repeats:
            for position, stage in enumerate(repeat.stages):
                found.setdefault(stage, []).append((cell, repeat, position))
    return found
