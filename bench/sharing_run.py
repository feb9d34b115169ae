"""One arm of the sharing bench: a sweep, from an empty store that only has the build, to its report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from bench.spent import Spent, stepgrid
from stepgrid.model.plan import Plan, PlannedCell, PlannedStage
from stepgrid.plan import plan_file
from stepgrid.plugins.registry import require_runner
from stepgrid.store.store import Store

KEPT = ("builds", "plans", "locks")


class Arm(NamedTuple):
    took: Spent
    loads: int
    loading: float  # seconds of the loads' steps
    images: int  # bytes that are there in the end
    rates: Mapping[str, float]  # cell -> QPS of its measured step


def build(folder: Path, arguments: Sequence[str]) -> None:
    folder.mkdir()
    stepgrid(folder, "builds", *arguments, "--yes")


def measured(folder: Path, arguments: Sequence[str]) -> Arm:
    store = Store(folder / "outputs")
    _empty(store)
    took = stepgrid(folder, "run", *arguments)
    plan = plan_file.read(store.plan(next(store.summary("_").parent.iterdir()).name))
    loads = [stage for stage in plan.stages if stage.parent is None]
    seconds = sum(_seconds(store, stage) for stage in loads)
    return Arm(took, len(loads), seconds, _bytes(store.image("_").parent), _rates(store, plan))


def _empty(store: Store) -> None:
    """Of all but the builds, so that every arm begins alike. A mark of a build that is there is made again."""
    for entry in store.root.iterdir():
        if entry.name not in KEPT:
            rmtree(entry)


def _seconds(store: Store, stage: PlannedStage) -> float:
    record = json.loads((_result(store, stage) / "result.json").read_text(encoding="utf-8"))
    return float(sum(step["seconds"] for step in record["steps"]))


def _rates(store: Store, plan: Plan) -> dict[str, float]:
    stages = {stage.id: stage for stage in plan.stages}
    last = {_name(cell): cell.repeats[0].stages[cell.steps[-1].stage] for cell in plan.cells}
    return {name: _rate(store, stages[stage]) for name, stage in last.items()}


def _name(cell: PlannedCell) -> str:
    return " ".join(f"{axis}={label}" for axis, label in sorted(cell.labels.items()))


def _rate(store: Store, stage: PlannedStage) -> float:
    """Of its last step, which is the measured one."""
    index, step = len(stage.steps) - 1, stage.steps[-1]
    folder = next((_result(store, stage) / "steps").glob(f"{index}-*"))
    return require_runner(step.kind).parse(folder, step.settings).metrics["qps"]


def _result(store: Store, stage: PlannedStage) -> Path:
    found = store.result(stage.id)
    assert found, f"{stage.title} was not measured"
    return found


def _bytes(folder: Path) -> int:
    """On the disk: a file that several images share counts once."""
    found = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return sum({each.st_ino: each.st_size for each in found}.values())
