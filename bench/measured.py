"""A plan that is all measured, as far as the store can see: results without figures, a summary without a run."""

from __future__ import annotations

import json
import time
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from stepgrid.model.plan import PlannedStage
from stepgrid.store.report_files import Products
from stepgrid.store.store import Store
from stepgrid.workflow import remaining_work, run_request


def make(spec: str) -> None:
    """In the current folder."""
    with redirect_stderr(StringIO()):  # the spec's warnings
        store, plan = Store(), run_request.compiled(spec, None)
    remaining_work.work(plan, store)
    for build in plan.builds:
        _write(store.build(build.id) / "build.json", {"id": build.id})
    store.mark("_").parent.mkdir(parents=True)
    for stage in plan.stages:
        _result(store, stage)
    products = Products.of(store, plan.digest)
    for path in (products.tables, products.text, products.page, *products.stamps):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("made up", encoding="utf-8")
    store.note_look(plan.digest, time.time() + 1.0)  # all of it was just written


def _result(store: Store, stage: PlannedStage) -> None:
    """Without the store's own way of publishing: it waits for the disk at each."""
    folder = store.results_of(stage.id) / "20240101T000000.000000Z"
    for index, step in enumerate(stage.steps):
        (folder / "steps" / f"{index}-{step.name}").mkdir(parents=True)
    record = {"stage": stage.id, "attempt": folder.name, "status": "done", "steps": [{} for _ in stage.steps]}
    _write(folder / "result.json", record)
    store.mark(stage.id).symlink_to(Path("..") / folder.relative_to(store.root) / "result.json")


def _write(path: Path, record: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1), encoding="utf-8")  # as the store does
