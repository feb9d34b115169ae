"""The answer when everything is measured, for a plan that need not be compiled, or even read, again."""

from __future__ import annotations

from stepgrid.plan.files import plan_file
from stepgrid.store.redo_requests import all_pending
from stepgrid.store.report_files import Products
from stepgrid.store.status import result_times
from stepgrid.store.store import Store
from stepgrid.workflow.plan_cache import Remembered, Request, find


def answer(store: Store, request: Request) -> tuple[str, str] | None:
    """The compilation's warnings, and that there is nothing to do; None when that is not certain."""
    found = find(store, request)
    if found is None or not _over(store, found):
        return None
    return found.said, Products.of(store, found.plan).nothing_to_do(found.cells, found.stages)


def _over(store: Store, found: Remembered) -> bool:
    try:
        folder, looked = store.plan(found.plan), store.looked(found.plan)
        stages = plan_file.ids(folder)
        records = [store.build(build) / "build.json" for build in plan_file.builds(folder)]
        if len(stages) != found.stages or any(record.stat().st_ctime >= looked for record in records):
            return False
        if all_pending(store, stages):
            return False
        times, made = result_times.times(store, stages), Products.of(store, found.plan).made
    except (OSError, ValueError):
        return False
    return times is not None and times.made <= made and times.touched < looked
