"""The Parquet tables of a plan, read back as typed values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stepgrid.collect.parquet import named
from stepgrid.collect.query import open_tables
from stepgrid.model.result_schema import axis_columns
from stepgrid.summarize.data import series
from stepgrid.summarize.data.client_rates import ClientRates, client_rates
from stepgrid.summarize.data.compaction_levels import Level, levels
from stepgrid.summarize.data.counters import Counted
from stepgrid.summarize.data.device_seconds import DeviceSeconds
from stepgrid.summarize.data.series import Series
from stepgrid.summarize.data.series_summary import Place as Place

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# of commands, what is shown
FACTS = """
SELECT scope, subject, name, value FROM environment
WHERE scope <> 'command' OR name IN ('argv', 'env', 'dropped')
"""


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
class PastFigure:
    """One row of `history`: a figure of an older result of a stage of the plan."""

    place: Place
    step: str
    kind: str
    cell: str
    load: int
    run: int
    restored: bool
    host: str | None
    qps: float
    attempt: str


@dataclass(frozen=True, slots=True)
class Tables:
    runs: tuple[Run, ...]
    series: Series
    facts: Mapping[str, Mapping[str, Mapping[str, str]]]  # scope -> subject -> name -> value
    units: Mapping[str, str] = field(default_factory=dict)
    history: tuple[PastFigure, ...] = ()
    levels: Mapping[Place, Sequence[Level]] = field(default_factory=dict)  # rows of the compaction tables
    client_rates: ClientRates = field(default_factory=lambda: ClientRates(Path()))
    counted: Counted = field(default_factory=Counted)
    device: DeviceSeconds = field(default_factory=DeviceSeconds)


def load(folder: Path, axes: Sequence[str]) -> Tables:
    with open_tables(folder) as connection:

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
        heard = series.read(folder)
        facts = _facts(connection.execute(FACTS).fetchall())
        lazy = client_rates(connection, folder), Counted(folder), DeviceSeconds(folder)
        return Tables(runs, heard, facts, metrics, past, levels(connection, folder), *lazy)


_SAME = (
    *("cell", "step", "kind", "measured", "build", "build_id", "client_id", "load", "run"),
    *("attempt", "same_as", "status", "reason", "log"),
)
_KEYS = (*_SAME, "stage", "position", "started", "warnings")


def _figures(connection: DuckDBPyConnection, metrics: Iterable[str]) -> list[dict[str, float]]:
    """Of each row, without what it lacks: by column, as most of a row is missing."""
    columns = {name for name, *_ in connection.execute("DESCRIBE steps").fetchall()}
    names = [name for name in metrics if name in columns]
    found = connection.execute(f"SELECT {', '.join(map(named, names))} FROM steps").fetchnumpy()
    filled = {name: np.ma.filled(found[name].astype(float), np.nan) for name in names}
    some = [name for name in names if not np.isnan(filled[name]).all()]
    values = np.array([filled[name] for name in some]).reshape(len(some), len(filled[names[0]])).T
    rows: list[dict[str, float]] = [{} for _ in values]
    for there, at in _alike(~np.isnan(values)):
        known = list(compress(some, there))
        for place, row in zip(at, values[at][:, there].tolist(), strict=True):
            rows[place] = dict(zip(known, row, strict=True))
    return rows


def _alike(there: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.bool_], list[int]]]:
    """Steps of one kind have the same figures: the rows that have, together."""
    found: dict[bytes, list[int]] = defaultdict(list)
    for at, row in enumerate(np.packbits(there, axis=1)):
        found[row.tobytes()].append(at)
    for places in found.values():
        yield there[places[0]], places


def _run(row: Mapping[str, Any], columns: Mapping[str, str], metrics: Mapping[str, float]) -> Run:
    return Run(
        **{name: row[name] for name in _SAME},
        labels={axis: row[column] for axis, column in columns.items() if row[column] is not None},
        place=(row["stage"], row["position"]),
        started=row["started"],
        warnings=tuple(row["warnings"] or ()),
        metrics=metrics,
    )


def _past(row: Mapping[str, Any]) -> PastFigure:
    same = ("step", "kind", "cell", "load", "run", "restored", "host", "qps", "attempt")
    return PastFigure(place=(row["stage"], row["position"]), **{name: row[name] for name in same})


def _facts(rows: Iterable[Sequence[str]]) -> dict[str, dict[str, dict[str, str]]]:
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for scope, subject, name, value in rows:
        found[scope][subject][name] = value
    return found
