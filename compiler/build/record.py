"""build.json and catalogue.json: what a build is, for every stage that runs it and for the report."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compiler.build.check import Checked
from compiler.build.programs import RECORD
from compiler.build.sources.protocol import Obtained
from compiler.plan.model import Json, PlannedBuild

CATALOGUE = "catalogue.json"


def write(folder: Path, build: PlannedBuild, route: str, obtained: Obtained, checked: Checked, seconds: float) -> None:
    options = {o.name: {"type": o.type, "default": o.default, "help": o.help} for o in checked.catalogue.values()}
    _dump(folder / CATALOGUE, options)
    _dump(folder / RECORD, record(build, route, obtained, checked, seconds))  # last: it says that the rest is there


def record(build: PlannedBuild, route: str, obtained: Obtained, checked: Checked, seconds: float) -> dict[str, Any]:
    identity = checked.identity
    return {
        "id": build.id,
        "name": build.name,
        "engine": build.engine,
        "version": identity.version,
        "source": dict(build.source),
        "route": route,
        "packages": [asdict(package) for package in obtained.packages],
        "programs": {name: list(argv) for name, argv in obtained.programs.items()},
        "warnings": list(identity.warnings),
        "assertions": identity.assertions,
        "facts": {**obtained.facts, **(identity.facts or {})},
        "quality": quality(obtained, checked),
        "seconds": round(seconds, 3),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def quality(obtained: Obtained, checked: Checked) -> dict[str, Json]:
    """Two builds whose qualities are equal compare without a caveat."""
    return {**obtained.quality, "assertions": checked.identity.assertions}


def _dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
