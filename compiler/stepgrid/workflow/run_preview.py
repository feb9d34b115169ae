"""A plan against the store: what would run, why, for how long and on how much disk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean, median

from stepgrid.host.machines import foreign
from stepgrid.language.site.site_file import of_environment
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage
from stepgrid.plan import actions, time_estimate
from stepgrid.plan.preview import Node, Outlook
from stepgrid.store.history import costs, earlier_plans
from stepgrid.store.images.verification import damaged
from stepgrid.store.status.node_records import known, results
from stepgrid.store.store import Store
from stepgrid.workflow.redo import due
from stepgrid.workflow.stale_inputs import Comparison, compare


def outlook(plan: Plan, store: Store) -> Outlook:
    return _Look(plan, store).outlook()


@dataclass(frozen=True)  # no slots: cached_property needs a dict
class _Look:
    plan: Plan
    store: Store

    def outlook(self) -> Outlook:
        nodes = [*map(self._build, self.plan.builds), *map(self._stage, self._stages), *self._orphans()]
        figures = costs.figures(self.store, self.plan)
        known_all = all(value is not None for value in self._seconds.values())
        whole = sum(value or 0.0 for value in self._seconds.values()) if known_all else None
        power = time_estimate.power(figures, self.plan, whole)
        return Outlook(self.plan, nodes, time_estimate.saved(self.plan, self._seconds), power)

    @cached_property
    def _stages(self) -> list[PlannedStage]:
        return sorted(self.plan.stages, key=lambda stage: stage.rank)

    @cached_property
    def _earlier(self) -> list[earlier_plans.Earlier]:
        return earlier_plans.earlier(self.store, self.plan)

    @cached_property
    def _known(self) -> actions.Known:
        found = known(self.store, self.plan, earlier_plans.elsewhere(self._earlier, self.plan))
        unmeasured = [s.id for s in self._stages if s.id not in found.results or s.id in found.again]
        return replace(
            found,
            foreign=foreign(self.plan.machines, self.store.root, of_environment()),
            damaged=damaged(self.store, {stage.id: stage.parent for stage in self._stages}, unmeasured),
        )

    @cached_property
    def _outcomes(self) -> Mapping[str, actions.Outcome]:
        found = actions.outcomes(self.plan, self._known)
        running = {node for node, outcome in found.items() if outcome.state in actions.RUNS}
        old = due(self.plan, running, self._counting)
        return actions.outcomes(self.plan, replace(self._known, again={**old, **self._known.again})) if old else found

    @property
    def _counting(self) -> Mapping[str, Path]:
        """The result of each stage that has one, where somebody compares their ages."""
        if self.plan.report.within is None:
            return {}
        return {node: found for node in self._known.results if (found := self.store.result(node))}

    @cached_property
    def _comparisons(self) -> Mapping[str, Comparison]:
        stale = [s.id for s in self._stages if self._outcomes[s.id].state in (actions.NEW, actions.FAILED)]
        return compare(self.plan, self.store, earlier_plans.of_spec(self._earlier, self.plan), stale)

    @cached_property
    def _cells(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for cell in self.plan.cells:
            found[cell.build][cell.id] = None
            for repeat in cell.repeats:
                for stage in repeat.stages:
                    found[stage][cell.id] = None
                    for client in self._clients[stage]:
                        found[client][cell.id] = None
        return {node: tuple(cells) for node, cells in found.items()}

    @cached_property
    def _clients(self) -> Mapping[str, Sequence[str]]:
        """The builds of clients, by stage."""
        return {stage.id: stage.clients for stage in self.plan.stages}

    @cached_property
    def _past(self) -> Mapping[str, list[PlannedStage]]:
        """Stages that have a result, by shape: this plan's, and those that others were compared with."""
        compared = (comparison.old[-1].stage for comparison in self._comparisons.values() if comparison.old)
        done = {stage.id: stage for stage in (*self.plan.stages, *compared) if stage.id in self._known.results}
        done |= {c.old[-1].stage.id: c.old[-1].stage for c in self._comparisons.values() if c.old}
        found: dict[str, list[PlannedStage]] = defaultdict(list)
        for stage in done.values():
            found[time_estimate.shape(stage)].append(stage)
        return found

    @cached_property
    def _seconds(self) -> Mapping[str, float | None]:
        stages = [stage.id for alike in self._past.values() for stage in alike]
        took = {node: result.seconds for node, result in results(self.store, stages).items()}
        past = {
            shape: [seconds for stage in alike if (seconds := took.get(stage.id)) is not None]
            for shape, alike in self._past.items()
        }
        return {stage.id: time_estimate.seconds(stage, past) for stage in self.plan.stages}

    @cached_property
    def _image_bytes(self) -> Mapping[str, list[int]]:
        """Bytes of images, by the shape of the stage that they are of."""
        found: dict[str, list[int]] = {}
        for shape, alike in self._past.items():
            sizes = (costs.image_bytes(self.store, stage.id) for stage in alike)
            found[shape] = [size for size in sizes if size is not None]
        return found

    @cached_property
    def _build_bytes(self) -> Mapping[str, int]:
        return {build: costs.folder_bytes(self.store.build(build)) for build in self._known.builds}

    def _build(self, build: PlannedBuild) -> Node:
        outcome = self._outcomes[build.id]
        alike = [self._build_bytes[b.id] for b in self.plan.builds if b.id in self._build_bytes]
        size = self._build_bytes.get(build.id) or (round(fmean(alike)) if alike else None)
        cells = tuple(self._cells.get(build.id, ()))
        runs = actions.to_do(outcome)
        return Node(build.id, "build", build.name, outcome.state, runs, False, cells, outcome.said, bytes=size)

    def _stage(self, stage: PlannedStage) -> Node:
        outcome = self._outcomes[stage.id]
        comparison = self._comparisons.get(stage.id, Comparison())
        return Node(
            stage.id,
            "stage",
            stage.title,
            outcome.state,
            actions.to_do(outcome),
            bool(stage.children) and stage.id not in self._again,
            tuple(self._cells.get(stage.id, ())),
            outcome.said or comparison.because,
            comparison.inputs,
            comparison.old[-1].stage.id if comparison.old else None,
            self._takes(stage, outcome),
            self._bytes(stage),
        )

    def _takes(self, stage: PlannedStage, outcome: actions.Outcome) -> float | None:
        """Of a stage on a server that ran before, as often as it is run."""
        once, more = self._seconds[stage.id], self._again.get(stage.id, 0)
        if once is None or not more:
            return once
        return once * (more + (outcome.state in actions.RUNS))

    @cached_property
    def _again(self) -> Mapping[str, int]:
        running = {node for node, outcome in self._outcomes.items() if outcome.state in actions.RUNS}
        return actions.again(self.plan, running)

    def _bytes(self, stage: PlannedStage) -> int | None:
        """Of its image; a stage that nothing comes after leaves none."""
        if not stage.children or stage.id in self._again:
            return None
        own = costs.image_bytes(self.store, stage.id)
        alike = self._image_bytes.get(time_estimate.shape(stage))
        return own if own is not None else round(median(alike)) if alike else None

    def _orphans(self) -> Iterator[Node]:
        titles = self._titles()
        gone = earlier_plans.abandoned(self._earlier, self.plan)
        for stage, result in sorted(results(self.store, sorted(gone)).items()):
            said = "no cell of this spec comes to it any more"
            yield Node(stage, "stage", titles[stage], actions.ORPHANED, False, False, (), said, seconds=result.seconds)

    def _titles(self) -> Mapping[str, str]:
        plans: Iterable[earlier_plans.Earlier] = reversed(earlier_plans.of_spec(self._earlier, self.plan))
        return {stage["id"]: stage["title"] for each in plans for stage in each.header["stages"]}
