"""build.json and catalogue.json: what a build is, for every stage that runs it and for the report."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stepgrid.build.programs import RECORD
from stepgrid.build.recipe import BuiltPrograms
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.build.verification import CheckedBuild
from stepgrid.model.plan import Json, PlannedBuild
from stepgrid.plugins.engine import OptionInfo

CATALOGUE = "catalogue.json"


@dataclass(frozen=True, slots=True)
class FinishedBuild:
    route: str
    recipe: str
    material: Material
    made: BuiltPrograms
    checked: CheckedBuild
    seconds: float


def write(order: Order, finished: FinishedBuild) -> None:
    catalogue = finished.checked.catalogue
    if catalogue is not None:
        _dump(order.folder / CATALOGUE, {option.name: _option(option) for option in catalogue.values()})
    _dump(order.folder / RECORD, record(order.build, finished))  # last: it says that the rest is there


def _option(option: OptionInfo) -> dict[str, Json]:
    """What the binary does not tell is not there."""
    told: dict[str, Json] = {"least": option.least, "most": option.most, "choices": list(option.choices)}
    known: dict[str, Json] = {"type": option.type, "default": option.default, "help": option.help}
    return known | {name: value for name, value in told.items() if value}


def record(build: PlannedBuild, finished: FinishedBuild) -> dict[str, Any]:
    identity, material, made = finished.checked.identity, finished.material, finished.made
    return {
        "id": build.id,
        "name": build.name,
        "engine": build.engine,
        "version": identity.version,
        "source": dict(build.source),
        "declared": {"version": build.version, "pin": build.pin, "recipe": dict(build.recipe)},  # the rest of its id
        "route": finished.route,
        "recipe": finished.recipe,
        "artifacts": [asdict(artifact) for artifact in (*material.artifacts, *made.artifacts)],
        "programs": {name: list(argv) for name, argv in made.programs.items()},
        "warnings": list(identity.warnings),
        "assertions": identity.assertions,
        "facts": {**material.facts, **made.facts, **(identity.facts or {})},
        "quality": quality(finished),
        "seconds": round(finished.seconds, 3),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def quality(finished: FinishedBuild) -> dict[str, Json]:
    """Two builds whose qualities are equal compare without a caveat."""
    said = {**finished.material.quality, **finished.made.quality}
    return {**said, "assertions": finished.checked.identity.assertions}


def _dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
