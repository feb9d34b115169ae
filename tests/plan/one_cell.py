"""A cell of a plan as a spec of its own: every value written out, nothing left to layers, axes or expressions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from stepgrid.model.plan import Option, Plan, PlannedBuild, PlannedCell, PlannedStage, PlannedStep
from stepgrid.plugins.registry import driver
from stepgrid.plugins.settings import Quantity

ROOT = Path(__file__).resolve().parents[2]
SETUP = ("launch", "start")  # of the whole spec; of a step in a plan


def text(plan: Plan, cell: PlannedCell, seed: int = 1) -> str:
    """YAML, as JSON; the machine is left out, so the host must be the same."""
    build = next(build for build in plan.builds if build.id == cell.build)
    chain = _chain(plan, cell)
    first = chain[0].steps[0]
    spec = {
        "title": "one cell",
        "builds": {build.name: _build(build)},
        "steps": [item for stage in chain for item in ({"checkpoint": stage.id}, *map(_step, stage.steps))][1:],
        "repeat": {"loads": 1 + max(r.load for r in cell.repeats), "runs": 1 + max(r.run for r in cell.repeats)},
        "seed": seed,
        "params": {"storage_engine": first.setup["storage_engine"]} if "storage_engine" in first.setup else {},
        "probes": _probes(chain),
        "define": {"builds": _clients(plan, chain)},
        **{name: first.setup[name] for name in SETUP if name in first.setup},
    }
    return json.dumps(spec, indent=1, ensure_ascii=False)


def stages(plan: Plan, cell: PlannedCell) -> list[list[str]]:
    return [list(repeat.stages) for repeat in cell.repeats]


def _chain(plan: Plan, cell: PlannedCell) -> list[PlannedStage]:
    by_id = {stage.id: stage for stage in plan.stages}
    return [by_id[stage] for stage in cell.repeats[0].stages]


def _build(build: PlannedBuild) -> dict[str, Any]:
    recipe = dict(build.recipe)
    if patches := cast(list[dict[str, Any]], recipe.get("patches", [])):
        recipe["patches"] = [str(ROOT / patch["path"]) for patch in patches]
    return {"engine": build.engine, "version": build.version, "source": dict(build.source), **recipe}


def _clients(plan: Plan, chain: list[PlannedStage]) -> dict[str, Any]:
    builds = {build.id: build for build in plan.builds}
    steps = [step for stage in chain for step in stage.steps]
    return {str(step.settings["client"]): _build(builds[step.client]) for step in steps if step.client}


def _probes(chain: list[PlannedStage]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for step in (step for stage in chain for step in stage.steps):
        for when in ("before", "after"):
            for probe in cast(list[dict[str, Any]], step.setup.get(when, [])):
                found.setdefault(probe["name"], dict(probe)).setdefault(when, []).append(step.name)
    return list(found.values())


def _step(step: PlannedStep) -> dict[str, Any]:
    settings = {name: _setting(step.kind, name, value) for name, value in step.settings.items()}
    options = {name: _option(option) for name, option in step.options.items()}
    flags = {"measured": step.measured, "mutates": step.mutates}
    return {"name": step.name, "kind": step.kind, **flags, "options": options, "params": settings}


def _setting(kind: str, name: str, value: Any) -> Any:
    metadata = driver(kind).settings_model().model_fields[name].metadata
    seconds = any(isinstance(item, Quantity) and item.kind == "duration" for item in metadata)
    return f"{value}s" if seconds and value is not None else value


def _option(option: Option) -> Any:
    return {"value": option.value, "when_unsupported": "drop"} if option.unsupported == "drop" else option.value
