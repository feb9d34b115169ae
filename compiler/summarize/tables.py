"""The Parquet tables of a plan, read back as typed values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from compiler.collect import reading
from compiler.collect.schema import axis_columns

SECONDS = """
SELECT stage, position, list(second ORDER BY second, qps) AS seconds, list(qps ORDER BY second, qps) AS rates
FROM {} GROUP BY stage, position ORDER BY stage, position
"""
Place = tuple[str, int]  # stage, position of the step in it


@dataclass(frozen=True, slots=True)
class Run:
    """One row of `steps`."""

    cell: str
    labels: Mapping[str, str]
    step: str
    kind: str
    measured: bool
    build: str
    build_id: str
    load: int
    run: int
    place: Place
    attempt: str | None
    same_as: str | None
    status: str
    reason: str | None
    log: str | None
    started: datetime | None
    warnings: tuple[str, ...]
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Past:
    """One row of `history`: a figure of an older result, or of another plan."""

    place: Place
    step: str
    kind: str
    cell: str
    load: int
    run: int
    restored: bool
    host: str | None
    qps: float


@dataclass(frozen=True, slots=True)
class Tables:
    runs: tuple[Run, ...]
    series: Mapping[Place, tuple[tuple[float, float], ...]]
    facts: Mapping[str, Mapping[str, Mapping[str, str]]]  # scope -> subject -> name -> value
    units: Mapping[str, str] = field(default_factory=dict)
    history: tuple[Past, ...] = ()
    levels: Sequence[Mapping[str, Any]] = ()  # rows of the compaction tables


def load(folder: Path, axes: Sequence[str]) -> Tables:
    with reading.opened(folder) as connection:

        def rows(name: str, query: str = "SELECT * FROM {}") -> list[dict[str, Any]]:
            found = connection.execute(query.format(name))
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

        metrics = {row["name"]: row["unit"] for row in rows("metrics")}
        columns = axis_columns(axes)
        runs = tuple(_run(row, columns, metrics) for row in rows("steps"))
        past = tuple(map(_past, rows("history")))
        series, facts = _series(rows("series", SECONDS)), _facts(rows("environment"))
        return Tables(runs, series, facts, metrics, past, rows("levels"))


_SAME = (
    *("cell", "step", "kind", "measured", "build", "build_id", "load", "run"),
    *("attempt", "same_as", "status", "reason", "log"),
)


def _run(row: Mapping[str, Any], columns: Mapping[str, str], metrics: Mapping[str, str]) -> Run:
    return Run(
        **{name: row[name] for name in _SAME},
        labels={axis: row[column] for axis, column in columns.items() if row[column] is not None},
        place=(row["stage"], row["position"]),
        started=row["started"],
        warnings=tuple(row["warnings"] or ()),
        metrics={name: row[name] for name in metrics if row[name] is not None},
    )


def _past(row: Mapping[str, Any]) -> Past:
    same = ("step", "kind", "cell", "load", "run", "restored", "host", "qps")
    return Past(place=(row["stage"], row["position"]), **{name: row[name] for name in same})


def _series(rows: Sequence[Mapping[str, Any]]) -> dict[Place, tuple[tuple[float, float], ...]]:
    """A list per step: rows of their own would be too many."""
    return {(row["stage"], row["position"]): tuple(zip(row["seconds"], row["rates"], strict=True)) for row in rows}


def _facts(rows: Sequence[Mapping[str, str]]) -> dict[str, dict[str, dict[str, str]]]:
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        found[row["scope"]][row["subject"]][row["name"]] = row["value"]
    return found
