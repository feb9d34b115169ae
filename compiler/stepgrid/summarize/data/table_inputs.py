"""What tables may need that is in no row of `steps`: parts of steps, levels of LSM trees, counters, response times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepgrid.collect.counts import PROBE
from stepgrid.collect.query import open_tables
from stepgrid.collect.step_figures import ENGINE
from stepgrid.plugins import registry
from stepgrid.plugins.layout import DEFAULT_LAYOUT, Layout, Level, Object
from stepgrid.plugins.registry import LAYOUTS
from stepgrid.summarize.data import time_windows
from stepgrid.summarize.data.parquet_reader import Place, Tables
from stepgrid.summarize.data.response_times import Shares, shares
from stepgrid.summarize.data.time_windows import Figures, Window


@dataclass(frozen=True, slots=True)
class Extras:
    windows: Mapping[Window, Figures] = field(default_factory=dict)
    levels: Mapping[Place, Sequence[Level]] = field(default_factory=dict)
    counters: Mapping[Place, Mapping[str, float]] = field(default_factory=dict)
    times: Mapping[Place, Shares] = field(default_factory=dict)
    probes: Sequence[str] = ()  # those of the spec
    objects: Mapping[Place, Sequence[Object]] = field(default_factory=dict)  # tables and indexes


def load(folder: Path, tables: Sequence[Mapping[str, Any]], found: Tables) -> Extras:
    """Load what `tables` of a report need from the folder of a plan's tables."""
    wanted = (tuple(table["window"]) for table in tables if "window" in table)
    named = tables or [
        {"layout": name} for kind in {run.kind for run in found.runs} for name in registry.default_tables(kind)
    ]
    times = shares(folder) if _of_times(named) else {}
    probes = probe_names(folder)
    objects = _objects(folder) if any(_layout(table).objects for table in tables) else {}
    counters = counted(folder, tables or [{"counters": [f"{probe}.*" for probe in probes]}])
    return Extras(time_windows.figures(folder, wanted), found.levels, counters, times, probes, objects)


def probe_names(folder: Path) -> list[str]:
    """They are metrics of their names."""
    with open_tables(folder) as connection:
        query = "SELECT name FROM metrics WHERE measured_over = ? ORDER BY name"
        return [str(name) for (name,) in connection.execute(query, [PROBE]).fetchall()]


def _of_times(asked: Iterable[Mapping[str, Any]]) -> bool:
    return any(_layout(table).times for table in asked)


def _layout(table: Mapping[str, Any]) -> Layout:
    return LAYOUTS.get(table.get("layout", DEFAULT_LAYOUT))


def _objects(folder: Path) -> dict[Place, list[Object]]:
    found: dict[Place, list[Object]] = defaultdict(list)
    with open_tables(folder) as connection:
        rows = connection.execute("SELECT * FROM sizes")
        names = [column[0] for column in rows.description or ()]
        for row in rows.fetchall():
            each = dict(zip(names, row, strict=True))
            found[each["stage"], each["position"]].append(each)
    return found


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
    with open_tables(folder) as connection:
        for stage, position, name, grown in connection.execute(query, patterns).fetchall():
            found[stage, position][name] = grown
    return found
