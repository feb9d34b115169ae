"""The Parquet tables of a plan, read back as typed values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler.collect import reading
from compiler.collect.parquet import named
from compiler.collect.schema import axis_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
    client_id: str | None
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
        names = ", ".join(map(named, (*_KEYS, *columns.values())))
        figures = _figures(connection, metrics)
        keys = rows("steps", f"SELECT {names} FROM {{}}")
        runs = tuple(_run(row, columns, each) for row, each in zip(keys, figures, strict=True))
        past = tuple(map(_past, rows("history")))
        series = _series(connection.execute(SECONDS.format("series")).fetchall())
        facts = _facts(connection.execute("SELECT scope, subject, name, value FROM environment").fetchall())
        return Tables(runs, series, facts, metrics, past, rows("levels"))


_SAME = (
    *("cell", "step", "kind", "measured", "build", "build_id", "client_id", "load", "run"),
    *("attempt", "same_as", "status", "reason", "log"),
)
_KEYS = (*_SAME, "stage", "position", "started", "warnings")


def _figures(connection: DuckDBPyConnection, metrics: Iterable[str]) -> list[dict[str, float]]:
    """Of each row, without what it lacks: by column, as most of a row is missing."""
    there = {name for name, *_ in connection.execute("DESCRIBE steps").fetchall()}
    names = [name for name in metrics if name in there]
    found = connection.execute(f"SELECT {', '.join(map(named, names))} FROM steps").fetchnumpy()
    rows: list[dict[str, float]] = [{} for _ in range(len(found[names[0]]))]
    for name in names:
        for row, value in zip(rows, found[name].tolist(), strict=True):
            if value is not None and value == value:
                row[name] = value
    return rows


def _run(row: Mapping[str, Any], columns: Mapping[str, str], metrics: Mapping[str, float]) -> Run:
    return Run(
        **{name: row[name] for name in _SAME},
        labels={axis: row[column] for axis, column in columns.items() if row[column] is not None},
        place=(row["stage"], row["position"]),
        started=row["started"],
        warnings=tuple(row["warnings"] or ()),
        metrics=metrics,
    )


def _past(row: Mapping[str, Any]) -> Past:
    same = ("step", "kind", "cell", "load", "run", "restored", "host", "qps")
    return Past(place=(row["stage"], row["position"]), **{name: row[name] for name in same})


def _series(rows: Iterable[Sequence[Any]]) -> dict[Place, tuple[tuple[float, float], ...]]:
    """A list per step: rows of their own would be too many."""
    return {(stage, position): tuple(zip(seconds, rates, strict=True)) for stage, position, seconds, rates in rows}


def _facts(rows: Iterable[Sequence[str]]) -> dict[str, dict[str, dict[str, str]]]:
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for scope, subject, name, value in rows:
        found[scope][subject][name] = value
    return found
