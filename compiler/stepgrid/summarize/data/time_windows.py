"""Figures over a part of each step, from its seconds: `5m`, the last five minutes; `[1m, 5m]`, from FROM to TO."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.model import units
from stepgrid.summarize.data.parquet_reader import Place, Run

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Window = tuple[str, ...]
Figures = Mapping[Place, Mapping[str, float]]

SLACK = 1.5  # seconds: the last second of a step is seldom whole
_KEY = ("stage", "attempt", "position", "step", "second")
# rate of the second -> metric per operation, and what makes it one
_PER_OPERATION = {
    "context_switches_per_s": ("context_switches_per_op", 1.0),
    "process_cores": ("cpu_us_per_op", 1e6),
}


def windowed(runs: Iterable[Run], found: Figures) -> list[Run]:
    """The runs with the figures of the window alone; one that did not last so long is left out, one undone stays."""
    return [replace(run, metrics=found.get(run.place, {})) for run in runs if not run.metrics or run.place in found]


def figures(folder: Path, windows: Iterable[Window]) -> dict[Window, Figures]:
    """Nothing is read where no table has a window."""
    from stepgrid.collect import parquet

    wanted = list(dict.fromkeys(windows))
    if not wanted:
        return {}
    with parquet.connect() as connection:
        return {window: _of(connection, folder, window) for window in wanted}


def _of(connection: DuckDBPyConnection, folder: Path, window: Window) -> Figures:
    ends = [units.quantity(said, "duration") for said in window]
    means = _means(connection, folder / "series*.parquet", ["qps"], ends)
    names = _columns(connection, folder / "samples*.parquet")
    rates = _means(connection, folder / "samples*.parquet", names, ends) if names else {}
    places = means.keys() | rates.keys()
    return {place: _completed({**rates.get(place, {}), **means.get(place, {})}) for place in places}


def _columns(connection: DuckDBPyConnection, path: Path) -> list[str]:
    found = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
    return [name for name, *_ in found if name not in _KEY]


def _means(
    connection: DuckDBPyConnection, path: Path, names: Sequence[str], ends: Sequence[float]
) -> dict[Place, dict[str, float]]:
    """A second is named by its end; a figure that is in none of them is absent."""
    means = ", ".join(f'avg("{name}") AS "{name}"' for name in names)
    query = f"""
        WITH seconds AS (SELECT *, max(second) OVER (PARTITION BY stage, position) AS last FROM read_parquet(?))
        SELECT stage, position, {means} FROM seconds
        WHERE last >= $2 - {SLACK} AND second > {"last - $2" if len(ends) == 1 else "$3"} AND second <= {_end(ends)}
        GROUP BY stage, position"""
    given: list[Any] = [str(path), ends[-1], *ends[:-1]]
    rows = connection.execute(query.replace("(?)", "($1)"), given).fetchall()
    return {
        (stage, position): {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for stage, position, *values in rows
    }


def _end(ends: Sequence[float]) -> str:
    return "last" if len(ends) == 1 else "$2"


def _completed(found: dict[str, float]) -> dict[str, float]:
    """What follows of rates: per operation."""
    rate = found.get("qps")
    for name, (metric, factor) in _PER_OPERATION.items():
        if rate and name in found:
            busy = found[name] + (found.get("server_cores", 0.0) if name == "process_cores" else 0.0)
            found[metric] = busy * factor / rate
    return found
