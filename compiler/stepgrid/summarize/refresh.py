"""Tables and report of a plan as its results are now: made again where something is newer. Nothing is measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from stepgrid.collect import query
from stepgrid.collect.job import collect, collect_stamped
from stepgrid.model.plan import Plan
from stepgrid.store import plans
from stepgrid.store.paths import BUILD_FILE
from stepgrid.store.store import Store, SummaryFiles
from stepgrid.summarize import job as summarize
from stepgrid.summarize.report import Report


def current(store: Store, plan: Plan) -> Report:
    plans.publish(store, plan)
    if _is_made(store, plan):
        with suppress(*query.table_faults()):  # they are made again
            return summarize.read(store, plan.digest)
    collect_stamped(store, plan)
    return summarize.write_stamped(store, plan.digest)


def current_tables(store: Store, plan: Plan) -> Path:
    """The folder of a plan's tables, as its results are now."""
    plans.publish(store, plan)
    if not _is_made(store, plan):
        collect(store, plan)
    return store.tables(plan.digest)


def _is_made(store: Store, plan: Plan) -> bool:
    try:
        made = SummaryFiles.of(store, plan.digest).oldest_time
    except OSError:
        return False
    return all(_changed(path) <= made for path in _evidence(store, plan))


def _evidence(store: Store, plan: Plan) -> Iterator[Path]:
    """A folder changes when a result or an attempt comes or goes; an attempt, when it fails."""
    for node in (*(stage.id for stage in plan.stages), *(build.id for build in plan.builds)):
        yield store.results_of(node)
        yield from (store.attempts_of(node), *store.attempts(node)[-1:])
    yield from (store.build(build.id) / BUILD_FILE for build in plan.builds)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
