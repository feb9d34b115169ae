"""What tables may need that is in no row of `steps`: parts of steps, levels of LSM trees, what was asked of a step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepgrid.collect.tables import table_views
from stepgrid.collect.tables.part import ENGINE
from stepgrid.model.plan import PlannedStage
from stepgrid.plan.files import plan_file
from stepgrid.plugins.driver import RateTargets
from stepgrid.plugins.drivers import driver
from stepgrid.plugins.layout import FIGURES, Level
from stepgrid.plugins.registry import LAYOUTS
from stepgrid.summarize.data import time_windows
from stepgrid.summarize.data.parquet_reader import Place, Tables
from stepgrid.summarize.data.response_times import Shares, shares
from stepgrid.summarize.data.time_windows import Figures, Window


@dataclass(frozen=True, slots=True)
class Extras:
    windows: Mapping[Window, Figures] = field(default_factory=dict)
    levels: Mapping[Place, Sequence[Level]] = field(default_factory=dict)
    targets: Mapping[Place, Mapping[str, float]] = field(default_factory=dict)
    counters: Mapping[Place, Mapping[str, float]] = field(default_factory=dict)
    times: Mapping[Place, Shares] = field(default_factory=dict)


def load(folder: Path, plan: Path, header: Mapping[str, Any], found: Tables) -> Extras:
    """`folder`: of the tables; `plan`: of the plan, which is long and seldom needed."""
    asked = header["report"]["tables"]
    wanted = (tuple(table["window"]) for table in asked if "window" in table)
    needed = any(isinstance(driver(kind), RateTargets) for kind in {run.kind for run in found.runs})
    targets = dict(_targets(plan_file.read(plan).stages)) if needed else {}
    times = shares(folder) if _of_times(asked) or (needed and not asked) else {}
    return Extras(time_windows.figures(folder, wanted), found.levels, targets, counted(folder, asked), times)


def _of_times(asked: Iterable[Mapping[str, Any]]) -> bool:
    return any(LAYOUTS.get(table.get("layout", FIGURES)).times for table in asked)


def _targets(stages: Iterable[PlannedStage]) -> Iterator[tuple[Place, Mapping[str, float]]]:
    for stage in stages:
        for position, step in enumerate(stage.steps):
            if isinstance(kind := driver(step.kind), RateTargets) and (asked := kind.targets(step.settings)):
                yield (stage.id, position), asked


# The counters that tables of a report ask for: of a server by its own names, of a probe as `probe.name`.

_NAMED = f"CASE source WHEN '{ENGINE}' THEN name ELSE source || '.' || name END"


def counted(folder: Path, tables: Iterable[Mapping[str, Any]]) -> dict[Place, dict[str, float]]:
    """Seldom asked for, and many: no others are read."""
    patterns = sorted({str(pattern) for table in tables for pattern in table.get("counters", ())})
    found: dict[Place, dict[str, float]] = defaultdict(dict)
    if not patterns:
        return found
    wanted = " OR ".join(["called GLOB ?"] * len(patterns))
    query = f"SELECT * FROM (SELECT stage, position, {_NAMED} AS called, grown FROM counters) WHERE {wanted}"
    with table_views.opened(folder) as connection:
        for stage, position, name, grown in connection.execute(query, patterns).fetchall():
            found[stage, position][name] = grown
    return found
