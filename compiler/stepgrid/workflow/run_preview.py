"""A plan against the store: what would run, why, for how long and on how much disk."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean, median

from stepgrid.collect.step_figures import has_stored_figures
from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.model.status import Action, NodeStatus, Status
from stepgrid.plan import actions, time_estimate
from stepgrid.plan.preview import MADE_BY, Node, Preview, Result
from stepgrid.store.builds import catalogue
from stepgrid.store.history import costs, earlier_plans
from stepgrid.store.images import image_bytes
from stepgrid.store.paths import folder_bytes
from stepgrid.store.record_header import head
from stepgrid.store.status.reader import StatusReader
from stepgrid.store.status.results import seconds
from stepgrid.store.store import Store
from stepgrid.workflow.stale_inputs import Comparison, compare


def outlook(plan: Plan, store: Store) -> Preview:
    return _Look(plan, store).outlook()


@dataclass(frozen=True)  # no slots: cached_property needs a dict
class _Look:
    plan: Plan
    store: Store

    def outlook(self) -> Preview:
        nodes = [self._build(node) if node.is_build else self._stage(node) for node in self._nodes.values()]
        each = {stage.id: self._nodes[stage.id].seconds for stage in self.plan.stages}
        whole = None if None in each.values() else sum(took or 0.0 for took in each.values())
        power = time_estimate.power(costs.figures(self.store, self.plan), self.plan, whole)
        saved = time_estimate.saved(self.plan, each)
        return Preview(self.plan, nodes, saved, power, self._abandoned(), self._results_to_read())

    def _results_to_read(self) -> int:
        results = [(stage, self._nodes[stage.id].result) for stage in self.plan.stages]
        return sum(
            result is not None and result.status is Status.DONE and not has_stored_figures(result.folder, stage.steps)
            for stage, result in results
        )

    @cached_property
    def _earlier(self) -> list[earlier_plans.EarlierPlan]:
        return earlier_plans.earlier(self.store, self.plan)

    @cached_property
    def _nodes(self) -> Mapping[str, NodeStatus]:
        found = StatusReader(self.store, self.plan).read().nodes
        made = (build.id for build in self.plan.builds if found[build.id].status is Status.DONE)
        catalogues = {**dict.fromkeys(b.id for b in self.plan.builds), **{b: catalogue(self.store, b) for b in made}}
        return actions.without_unsupported(self.plan, found, catalogues) | self._of_other_specs(found)

    def _of_other_specs(self, nodes: Mapping[str, NodeStatus]) -> dict[str, NodeStatus]:
        """Done by the run of another spec that has the same."""
        others = earlier_plans.elsewhere(self._earlier, self.plan)
        found = {}
        for node in nodes.keys() & others.keys():
            if nodes[node].action is Action.KEEP and (maker := self._maker(nodes[node])) not in (None, self.plan.spec):
                found[node] = replace(nodes[node], why=f"{MADE_BY}{maker}")
        return found

    def _maker(self, node: NodeStatus) -> str | None:
        """The spec whose plan it was made for."""
        folder = node.result.folder if node.result else self.store.build(node.id)
        try:
            plan = json.loads((folder / "attempt.json").read_text(encoding="utf-8"))["plan"]
            return str(json.loads((self.store.plan(plan) / "plan.json").read_text(encoding="utf-8"))["spec"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @cached_property
    def _comparisons(self) -> Mapping[str, Comparison]:
        runs = (Action.MEASURE, Action.RETRY)
        stale = [node.id for node in self._nodes.values() if not node.is_build and node.action in runs]
        return compare(self.plan, self.store, earlier_plans.of_spec(self._earlier, self.plan), stale)

    @cached_property
    def _cells(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for cell in self.plan.cells:
            found[cell.build][cell.id] = None
            for repeat in cell.repeats:
                for stage in repeat.stages:
                    found[stage][cell.id] = None
                    for client in self._stages[stage].clients:
                        found[client][cell.id] = None
        return {node: tuple(cells) for node, cells in found.items()}

    @cached_property
    def _stages(self) -> Mapping[str, PlannedStage]:
        return {stage.id: stage for stage in self.plan.stages}

    @cached_property
    def _image_bytes(self) -> Mapping[str, list[int]]:
        """Bytes of images, by the shape of the stage that they are of: this plan's, and those compared with."""
        done = {node.id: self._stages[node.id] for node in self._nodes.values() if node.result}
        done |= {c.old[-1].stage.id: c.old[-1].stage for c in self._comparisons.values() if c.old}
        found: dict[str, list[int]] = defaultdict(list)
        for stage in done.values():
            if (size := image_bytes(self.store, stage.id)) is not None:
                found[time_estimate.shape(stage)].append(size)
        return found

    @cached_property
    def _build_bytes(self) -> Mapping[str, int]:
        there = (build.id for build in self.plan.builds if self._nodes[build.id].status is Status.DONE)
        return {build: folder_bytes(self.store.build(build)) for build in there}

    def _build(self, node: NodeStatus) -> Node:
        alike = self._build_bytes.values()
        size = self._build_bytes.get(node.id) or (round(fmean(alike)) if alike else None)
        return Node(node, False, tuple(self._cells.get(node.id, ())), bytes=size)

    def _stage(self, node: NodeStatus) -> Node:
        comparison, stage = self._comparisons.get(node.id, Comparison()), self._stages[node.id]
        load = bool(stage.children) and not self._is_repeated(node)
        return Node(
            node if node.because else replace(node, why=comparison.because),
            load,
            tuple(self._cells.get(node.id, ())),
            comparison.inputs,
            comparison.old[-1].stage.id if comparison.old else None,
            self._bytes(stage) if load else None,
        )

    def _is_repeated(self, node: NodeStatus) -> bool:
        """On a server that ran before: there is no image."""
        return actions.REPEATED in node.why

    def _bytes(self, stage: PlannedStage) -> int | None:
        own = image_bytes(self.store, stage.id)
        alike = self._image_bytes.get(time_estimate.shape(stage))
        return own if own is not None else round(median(alike)) if alike else None

    def _abandoned(self) -> list[Result]:
        gone, titles = earlier_plans.abandoned(self._earlier, self.plan), self._titles()
        found = {stage: self.store.result(stage) for stage in sorted(gone)}
        heads = {stage: head(result / "result.json") for stage, result in found.items() if result}
        return [Result(stage, titles[stage], seconds(record)) for stage, record in heads.items() if record]

    def _titles(self) -> Mapping[str, str]:
        plans: Iterable[earlier_plans.EarlierPlan] = reversed(earlier_plans.of_spec(self._earlier, self.plan))
        return {stage["id"]: stage["title"] for each in plans for stage in each.header["stages"]}
