"""Figures of older results of a plan's own stages: what was measured again says how far apart equal arms come out.

No other plan of the store adds to them: a verdict depends on its own experiment alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from stepgrid.collect.figures.metrics_cache import Metrics, kept
from stepgrid.collect.figures.step_figures import figures
from stepgrid.collect.tables.parquet import Row
from stepgrid.host import file_reader
from stepgrid.model.plan import CellStep, Plan, PlannedStage
from stepgrid.store.status.results import BrokenResult, changed, read
from stepgrid.store.store import Store

MOST = 400  # results that are read
FIGURE = "qps"


def rows(store: Store, plan: Plan, attempts: Mapping[str, str | None]) -> Iterator[Row]:
    """A row for each step of each result but those of `attempts`; `cell` is equal for the loads of one cell."""
    stages = {stage.id: stage for stage in plan.stages}
    for key, steps, result in islice(_older_results(store, plan, attempts), MOST):
        metrics, host = _metrics(result, stages[str(key["stage"])]), _host(result)
        for step in steps:
            value = metrics.get(step.index, {}).get(FIGURE)
            if value is not None:
                place = {**key, "cell": f"{key['cell']}/{step.index}", "attempt": result.name, "position": step.index}
                yield {**place, "step": step.step or step.name, "kind": step.kind, "host": host, "qps": value}


def _older_results(
    store: Store, plan: Plan, attempts: Mapping[str, str | None]
) -> Iterator[tuple[Row, Sequence[CellStep], Path]]:
    """A stage that several cells share counts once."""
    seen: set[str] = set()
    for cell in plan.cells:
        for repeat in cell.repeats:
            for depth, stage in enumerate(repeat.stages):
                steps = [step for step in cell.steps if step.measured and step.stage == depth]
                if not steps or stage in seen:
                    continue
                seen.add(stage)
                first = cell.repeats[0].stages[depth]
                key = {"stage": stage, "cell": first, "load": repeat.load + 1, "run": repeat.run + 1}
                for result in store.results(stage):
                    if result.name != attempts.get(stage):
                        yield {**key, "restored": depth > 0}, steps, result


def _metrics(result: Path, stage: PlannedStage) -> Metrics:
    """By position, as this version reads them, whoever read them before."""
    cached = {at: metrics for kind in {step.kind for step in stage.steps} for at, metrics in kept(result, kind).items()}
    if len(cached) == len(stage.steps):
        return cached
    with suppress(BrokenResult):
        whole = read(result, stage)
        steps = () if changed(whole) else figures(whole, stage.steps)
        return {at: step.metrics for at, step in enumerate(steps)}
    return {}


def _host(result: Path) -> str | None:
    name = (file_reader.read(result / "attempt.json").get("host") or {}).get("hostname")
    return name if isinstance(name, str) else None
