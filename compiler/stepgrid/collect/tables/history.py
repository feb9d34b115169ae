"""Figures of this store that are not of this plan's own results: older ones of its stages, and those of other plans.

Equal things that were measured again say how far apart equal arms come out here: results of one stage, and the loads of
one cell. Of so many results, the newest plans first; of other plans, those alone whose figures are read already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from stepgrid.collect.figures.metrics_cache import Metrics, kept
from stepgrid.collect.figures.step_figures import figures
from stepgrid.collect.tables.parquet import Row
from stepgrid.host import file_reader
from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.store.history import earlier_plans
from stepgrid.store.status.results import BrokenResult, changed, read
from stepgrid.store.store import Store

MOST, PLANS = 400, 10  # results that are read, plans that they are looked for in
FIGURE = "qps"


@dataclass(slots=True)
class _Look:
    """What was read already: a stage that several cells or plans share counts once."""

    store: Store
    stages: Mapping[str, PlannedStage]  # of this plan
    own: Mapping[str, str | None]  # of each, the attempt that its tables have
    left: int  # results that may still be read
    seen: set[str] = field(default_factory=set)


def rows(store: Store, plan: Plan, own: Mapping[str, str | None]) -> Iterator[Row]:
    """A row for each step of each result; `cell` is equal for the loads of one cell."""
    look = _Look(store, {stage.id: stage for stage in plan.stages}, own, left=MOST)
    others = ((each.folder.name, _others(each)) for each in earlier_plans.recent(store, PLANS))
    for name, cells in chain([(plan.digest, _own(plan))], others):
        for cell in cells if look.left else ():
            yield from ({**row, "plan": name} for row in _cell(look, cell))


@dataclass(frozen=True, slots=True)
class _Step:
    name: str
    kind: str
    stage: int
    index: int


@dataclass(frozen=True, slots=True)
class _Cell:
    steps: tuple[_Step, ...]
    repeats: tuple[tuple[int, int, tuple[str, ...]], ...]  # load, run, stages


def _own(plan: Plan) -> Iterator[_Cell]:
    for cell in plan.cells:
        steps = tuple(_Step(s.step or s.name, s.kind, s.stage, s.index) for s in cell.steps if s.measured)
        yield _Cell(steps, tuple((repeat.load, repeat.run, tuple(repeat.stages)) for repeat in cell.repeats))


def _others(plan: earlier_plans.EarlierPlan) -> Iterator[_Cell]:
    """None of a plan that an older version wrote in a way that is not read any more."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        for cell in plan.header["cells"]:
            steps = [each for each in cell["steps"] if each["measured"]]
            made = tuple(_Step(s.get("step") or s["name"], s["kind"], s["stage"], s["index"]) for s in steps)
            yield _Cell(made, tuple((each["load"], each["run"], tuple(each["stages"])) for each in cell["repeats"]))


def _cell(look: _Look, cell: _Cell) -> Iterator[Row]:
    for load, run, stages in cell.repeats:
        for depth, stage in enumerate(stages):
            steps = [step for step in cell.steps if step.stage == depth]
            if steps and stage not in look.seen:
                look.seen.add(stage)
                first = cell.repeats[0][2][depth]
                for row in _results(look, stage, steps):
                    cell_id = f"{first}/{row['position']}"
                    yield {**row, "cell": cell_id, "load": load + 1, "run": run + 1, "restored": depth > 0}


def _results(look: _Look, stage: str, steps: list[_Step]) -> Iterator[Row]:
    for result in look.store.results(stage):
        if result.name == look.own.get(stage) or not look.left:
            continue
        look.left -= 1
        found, host = _figures(result, look.stages.get(stage), steps), _host(result)
        for step in steps:
            value = found.get(step.index, {}).get(FIGURE)
            if value is not None:
                where = {"stage": stage, "attempt": result.name, "position": step.index}
                yield {**where, "step": step.name, "kind": step.kind, "host": host, "qps": value}


def _figures(result: Path, stage: PlannedStage | None, steps: list[_Step]) -> Metrics:
    """As this version reads them, whoever read them before."""
    wanted = stage.steps if stage else steps
    known = {at: metrics for kind in {step.kind for step in wanted} for at, metrics in kept(result, kind).items()}
    if stage is None or len(known) == len(stage.steps):
        return known
    with suppress(BrokenResult):
        whole = read(result, stage)
        found = () if changed(whole) else figures(whole, stage.steps)
        return {at: step.metrics for at, step in enumerate(found)}
    return {}


def _host(result: Path) -> str | None:
    name = (file_reader.read(result / "attempt.json").get("host") or {}).get("hostname")
    return name if isinstance(name, str) else None
