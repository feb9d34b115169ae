"""Which stages are measured beside a result that they have: asked for by someone, or by `compare_within`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path

from stepgrid.host.machines import elsewhere
from stepgrid.language.site.site_file import of_environment
from stepgrid.model.plan import Plan
from stepgrid.plan import base_stages
from stepgrid.store import redo_requests
from stepgrid.store.store import ATTEMPT, Store


def again(plan: Plan, store: Store, results: Mapping[str, Path]) -> dict[str, str]:
    """Stage -> why; those of other machines wait for these. `results`: those that count."""
    pending = {node: found.said for node, found in redo_requests.all_pending(store, results).items()}
    running = {stage.id for stage in plan.stages if stage.id not in results or stage.id in pending}
    found = pending | due(plan, running - _foreign(plan, store, running), results)
    return {node: why for node, why in found.items() if node not in _foreign(plan, store, found)}


def due(plan: Plan, running: Collection[str], results: Mapping[str, Path]) -> dict[str, str]:
    """What `compare_within` adds to what runs."""
    if plan.report.within is None:
        return {}
    times = {node: when for node, result in results.items() if (when := measured(result.name))}
    return base_stages.due(plan, running, times, datetime.now(UTC))


def ask_for_bases(plan: Plan, store: Store, again: Mapping[str, str]) -> None:
    """So that the jobs know, and a run that is killed goes on with them."""
    for node, why in again.items():
        if redo_requests.pending(store, node) is None:
            redo_requests.ask(store, node, why, by=plan.spec)


def measured(result: str) -> datetime | None:
    """When, by the name of a result."""
    try:
        return datetime.strptime(result, ATTEMPT).replace(tzinfo=UTC)
    except ValueError:
        return None


def _foreign(plan: Plan, store: Store, nodes: Collection[str]) -> set[str]:
    stages = [stage for stage in plan.stages if stage.id in nodes]
    return set(elsewhere(plan.machines, stages, store.root, of_environment()))
