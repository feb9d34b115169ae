"""By how much counters grew in the cells of a plan, over a step or around a probe: read from the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import NamedTuple

from stepgrid.collect.tables import table_views

Place = tuple[str, str]  # step, and engine or the probe
_QUERY = """
SELECT s.step, c.source, s.cell, c.name, min(s.position) AS place, list(c.grown), list(DISTINCT s.stage)
FROM counters AS c JOIN steps AS s USING (stage, attempt, position)
GROUP BY s.step, c.source, s.cell, c.name ORDER BY place, s.step, c.source, c.name
"""


class Wanted(NamedTuple):
    """What is asked for; nothing stands for all."""

    steps: Sequence[str] = ()
    sources: Sequence[str] = ()  # engine, or names of probes
    names: Sequence[str] = ()  # of counters, or patterns of them

    def takes(self, step: str, source: str, name: str) -> bool:
        return _either(step, self.steps) and _either(source, self.sources) and _either(name, self.names)


def _either(value: str, wanted: Iterable[str]) -> bool:
    return not wanted or any(fnmatchcase(value, each) for each in wanted)


def grown(folder: Path, cells: Sequence[str], wanted: Wanted) -> dict[Place, dict[str, dict[str, float]]]:
    """Step and source -> cell -> counter -> growth, the median of the loads; cells with the same runs are one."""
    found: dict[Place, dict[str, dict[str, float]]] = {}
    runs: dict[tuple[Place, tuple[str, ...]], str] = {}
    with table_views.opened(folder) as connection:
        rows = connection.execute(_QUERY).fetchall()
    order = {cell: index for index, cell in enumerate(cells)}
    for step, source, cell, name, _, values, stages in sorted(rows, key=lambda row: order.get(row[2], 0)):
        place = step, source
        if cell in order and wanted.takes(step, source, name):
            first = runs.setdefault((place, tuple(sorted(stages))), cell)
            if first == cell:
                found.setdefault(place, {}).setdefault(cell, {})[name] = median(values)
    return found


def places(folder: Path) -> Mapping[str, Sequence[str]]:
    """Source -> the steps that it is of."""
    with table_views.opened(folder) as connection:
        rows = connection.execute("SELECT source, list(DISTINCT step) FROM counters GROUP BY source").fetchall()
    return {source: sorted(steps) for source, steps in rows}
