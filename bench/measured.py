"""A plan that is all measured, as far as the store can see: results with one figure, a summary without a run."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

from msgspec import convert

from stepgrid.collect.result_figures import read_result
from stepgrid.model.plan import PlannedStage
from stepgrid.model.records import StepRecord, plain
from stepgrid.model.status import Result
from stepgrid.store import results
from stepgrid.store.plans import Request
from stepgrid.store.store import Store, SummaryFiles
from stepgrid.workflow import remaining_work, run_request

ATTEMPT = "20260101T000000.000000Z"
TIMES = {"started": "2026-01-01T00:00:00+00:00", "ended": "2026-01-01T00:00:05+00:00"}
HOST = {"kernel": "6.1.0", "governor": "performance", "hostname": "made-up", "thp": "madvise", "swap": "0"}
STEP = {"status": "done", "exit": 0, **TIMES, "seconds": 5.0, "user": 1.5, "system": 0.5, "max_rss": 1 << 30}


def make(spec: str, has_summary: bool = True) -> None:
    """In the current folder. Without a summary, of a run that was stopped before it."""
    with redirect_stderr(StringIO()):  # the spec's warnings
        store, plan = Store(), run_request.requested_plan(Request(spec))
    remaining_work.remaining_work(plan, store)
    for build in plan.builds:
        record = {"id": build.id, "name": build.name, "engine": build.engine, "version": "1", "route": "system"}
        _write(store.build(build.id) / "build.json", {**record, "quality": {}})
    store.mark("_").parent.mkdir(parents=True)
    for stage in plan.stages:
        _result(store, plan.digest, stage)
    if not has_summary:
        return
    products = SummaryFiles.of(store, plan.digest)
    for path in (products.tables, products.text, products.page, *products.stamps):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("made up", encoding="utf-8")


def _result(store: Store, plan: str, stage: PlannedStage) -> None:
    """Without the store's own way of publishing: it waits for the disk at each."""
    folder = store.results_of(stage.id) / ATTEMPT
    steps = [_step(folder / "steps" / f"{index}-{step.name}", step) for index, step in enumerate(stage.steps)]
    common = {"stage": stage.id, "attempt": ATTEMPT, "build": stage.build}
    _write(folder / "attempt.json", {**common, "plan": plan, "host": HOST})
    record = {**common, "status": "done", **TIMES, "steps": steps, "files": plain(results.result_checksums(folder))}
    _write(folder / "result.json", record)
    folders = tuple(sorted(folder.glob("steps/*-*"), key=lambda path: int(path.name.partition("-")[0])))
    typed = convert(steps, tuple[StepRecord, ...])
    read_result(Result(folder, steps=typed, folders=folders), stage.steps)  # as the job that measured it does
    store.mark(stage.id).symlink_to(Path("..") / folder.relative_to(store.root) / "result.json")


def _step(folder: Path, step: Any) -> Mapping[str, Any]:
    rate = 50_000 * random.Random(str(folder)).gauss(1, 0.05)
    folder.mkdir(parents=True)
    (folder / "stdout").write_text(f"ops={rate:.1f}\n", encoding="utf-8")
    (folder / "stderr").write_text("", encoding="utf-8")
    _write(folder / "command.json", {"argv": ["true"], "env": {}})
    record = {"name": step.name, "kind": step.kind, **STEP, "dropped": []}
    _write(folder / "step.json", record)
    return record


def _write(path: Path, record: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1), encoding="utf-8")  # as the store does
