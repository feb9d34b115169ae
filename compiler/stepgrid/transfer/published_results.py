"""Imported results in the store: all of them made ready first, then published, so that nothing is half imported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepgrid.collect import step_figures
from stepgrid.host.files import make_folder, remove_tree
from stepgrid.host.locks import locked
from stepgrid.model.plan import PlannedBuild, PlannedStage
from stepgrid.plugins.importer import ImportedStep
from stepgrid.store import checksums, plans
from stepgrid.store.stale_summaries import out_of_date
from stepgrid.store.store import Store
from stepgrid.transfer.published_plan import PublishedPlan

_STAGED = "import-legacy"  # what an import that was killed leaves is below this name
RESULT, ATTEMPT, BUILD = "result.json", "attempt.json", "build.json"


@dataclass(slots=True)
class ImportedPlan:
    results: list[str] = field(default_factory=list)  # stages
    known: list[str] = field(default_factory=list)  # that were here already


def publish(store: Store, planned: PublishedPlan) -> ImportedPlan:
    plan = planned.plan
    with locked(store.lock(_STAGED)):
        for left in store.attempts(_STAGED):
            remove_tree(left)
        staged = store.new_attempt(_STAGED)
        try:
            _stage(staged, planned)
            plans.publish(store, plan)
            for build in plan.builds:
                store.publish_import(staged / build.id, store.build_record(build.id))
            return _published(store, staged, planned)
        finally:
            remove_tree(staged)
            store.drop_empty_attempts(_STAGED)


def _stage(staged: Path, planned: PublishedPlan) -> None:
    for build in planned.plan.builds:
        make_folder(staged / build.id)
        _write(staged / build.id / BUILD, _record(build))
    for stage in planned.plan.stages:
        if (steps := planned.stages.get(stage.id)) is not None:
            _result(staged / stage.id, stage, steps, planned.plan.digest)


def _published(store: Store, staged: Path, planned: PublishedPlan) -> ImportedPlan:
    taken = ImportedPlan()
    for node in planned.stages:
        if store.result(node) is None:
            store.publish_import(staged / node, store.results_of(node) / staged.name)
            store.set_mark(node, store.results_of(node) / staged.name / RESULT)
            taken.results.append(node)
        else:
            taken.known.append(node)
    out_of_date(store, set(taken.results))
    return taken


def _record(build: PlannedBuild) -> dict[str, Any]:
    return {"id": build.id, "name": build.name, "engine": build.engine, "version": build.version, "route": "published"}


def _result(folder: Path, stage: PlannedStage, steps: Sequence[ImportedStep], plan: str) -> None:
    for index, step in enumerate(steps):
        _step(folder / "steps" / f"{index}-{_file_name(stage.steps[index].name)}", step)
    first = steps[0]
    common = {"stage": stage.id, "attempt": folder.parent.name, "build": stage.build}
    _write(folder / ATTEMPT, {**common, "plan": plan, "started": first.started, "host": dict(first.host)})
    said = [{"name": step.step, "kind": stage.steps[0].kind, **_times(step)} for step in steps]
    _write(folder / RESULT, {**common, "status": "done", **_times(first), "steps": said, "files": checksums.of(folder)})


def _step(folder: Path, step: ImportedStep) -> None:
    folder.mkdir(parents=True)
    for path in step.files:
        shutil.copyfile(path, folder / path.name)
    _write(folder / step_figures.STATED, step_figures.stated_body(step))
    if step.argv:
        _write(folder / "command.json", {"argv": list(step.argv), "env": {}})


def _write(path: Path, value: Mapping[str, Any]) -> None:
    """Publication makes it durable, all of a result at once."""
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def _times(measured: ImportedStep) -> Mapping[str, Any]:
    known = {"started": measured.started, "seconds": measured.seconds}
    return {name: value for name, value in known.items() if value is not None}


def _file_name(step: str) -> str:
    return "".join(character if character.isalnum() or character in "._=-" else "_" for character in step)
