"""Plans in a store: their folders, published whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.host import files
from stepgrid.model.plan import Plan
from stepgrid.plan import plan_file
from stepgrid.store import paths
from stepgrid.store.paths import subfolders
from stepgrid.store.store import Store


def publish(store: Store, plan: Plan) -> None:
    store.publish_plan(plan.digest, lambda folder: write(plan, folder), plan_file.is_intact)


def write(plan: Plan, folder: Path) -> None:
    """By rename; a plan that is there already is the same plan."""
    if plan_file.is_intact(folder):
        return
    new = folder.with_name(f".{folder.name}.{files.temporary_suffix()}")
    new.mkdir(parents=True)
    for name, content in plan_file.texts(plan):
        with (new / name).open("w", encoding="utf-8") as file:
            file.writelines(content)
    try:
        os.rename(new, folder)
    except OSError:  # another process published the same plan first
        for entry in new.iterdir():
            entry.unlink()
        new.rmdir()


class StoredPlan(NamedTuple):
    """A plan that is kept, as its header says."""

    folder: Path
    spec: str
    scale: str | None
    machines: Mapping[str, Mapping[str, Any]]  # by id
    made: float  # unix time

    @property
    def digest(self) -> str:
        return self.folder.name


def name_of(made: float) -> str:
    """A time as results are named by it."""
    return datetime.fromtimestamp(made, UTC).strftime(paths.TIME_FORMAT)


def stored(store: Store) -> Iterator[StoredPlan]:
    """A header that cannot be read says nothing: then there is no spec."""
    for folder in subfolders(store.plan("_").parent):
        said = files.read_json(folder / plan_file.HEADER)
        yield StoredPlan(folder, str(said.get("spec", "")), said.get("scale"), _machines(said), folder.stat().st_mtime)


def _machines(header: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """An older version named one in `hardware` alone."""
    hardware, machines = header.get("hardware"), header.get("machines")
    if not machines and isinstance(hardware, dict) and "id" in hardware:
        return {str(hardware["id"]): hardware}
    listed = machines.items() if isinstance(machines, dict) else ()
    return {name: facts for name, facts in listed if isinstance(facts, dict)}


def stages(plan: StoredPlan) -> list[str]:
    """Their ids; none of a plan that cannot be read."""
    try:
        return plan_file.stage_ids(plan.folder)
    except (OSError, ValueError):
        return []
