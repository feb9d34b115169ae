"""Plans of results that were imported from published scripts: no spec comes to them, and they stay."""

from __future__ import annotations

from stepgrid.model.plan import Plan
from stepgrid.plan.files import plan_file
from stepgrid.store.store import Store
from stepgrid.transfer.published_plan import imported


def named(store: Store, digest: str) -> Plan | None:
    """None where there is no such plan, or a spec comes to it."""
    folder = store.plan(digest)
    try:
        return plan_file.read(folder) if imported(plan_file.read_header(folder)["spec"]) else None
    except (OSError, ValueError, KeyError):
        return None


def brought(store: Store, digest: str) -> Plan | None:
    """One that came with results of another checkout, which its own spec may not come to here."""
    if not store.texts(digest).is_dir():
        return None
    try:
        return plan_file.read(store.plan(digest))
    except (OSError, ValueError, KeyError):
        return None
