"""Columns to a Parquet file: figures of many steps go there as arrays, never row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.collect.tables.parquet import named, options, quoted
from stepgrid.host.durable_writes import replacing

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Column = Array | Sequence[Any]

NUMBER = "DOUBLE"
_KEYS: Mapping[str, type] = {"stage": object, "attempt": object, "position": int, "step": object}  # ints as such: fast
_VIEW = "stepgrid_columns"


class Point(NamedTuple):
    """What the rows of a step begin with, in every table but `steps`."""

    stage: str
    attempt: str
    position: int
    step: str


class Rows(ABC):
    """Grows by the rows of a step."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self.types = types
        self.rows = 0
        self._own = [name for name in types if name not in Point._fields]
        self._points: list[Point] = []
        self._counts: list[int] = []

    def _grow(self, point: Point, count: int) -> None:
        self._points.append(point)
        self._counts.append(count)
        self.rows += count

    def arrays(self) -> dict[str, Any]:
        import numpy as np

        found: dict[str, Any] = {}
        for name in [name for name in Point._fields if name in self.types]:
            keys: NDArray[Any] = np.array([getattr(point, name) for point in self._points], _KEYS[name])
            found[name] = np.repeat(keys, self._counts)
        return {**found, **self._values()}

    @abstractmethod
    def _values(self) -> dict[str, Any]: ...


class Table(Rows):
    """By columns; NaN and None are missing."""

    def __init__(self, types: Mapping[str, str]) -> None:
        super().__init__(types)
        self._columns: dict[str, list[Column]] = {name: [] for name in self._own}

    def add(self, point: Point, columns: Mapping[str, Column]) -> None:
        count = len(next(iter(columns.values()), ()))
        if count:
            self._grow(point, count)
            for name, found in self._columns.items():
                found.append(columns[name] if name in columns else _missing(self.types[name], count))

    def _values(self) -> dict[str, Any]:
        return {name: _joined(self.types[name], parts) for name, parts in self._columns.items()}


def write(connection: DuckDBPyConnection, path: Path, types: Mapping[str, str], arrays: Mapping[str, Any]) -> None:
    cast = ", ".join(f"CAST({named(name)} AS {kind}) AS {named(name)}" for name, kind in types.items())
    connection.register(_VIEW, {name: arrays[name] for name in types})
    try:
        with replacing(path) as new:
            connection.execute(f"COPY (SELECT {cast} FROM {_VIEW}) TO {quoted(str(new))} {options()}")
    finally:
        connection.unregister(_VIEW)


def _missing(kind: str, count: int) -> Column:
    import numpy as np

    return np.full(count, np.nan) if kind == NUMBER else [None] * count


def _joined(kind: str, parts: Sequence[Column]) -> Any:
    import numpy as np

    if kind != NUMBER:
        return np.array([value for part in parts for value in part], dtype=object)
    arrays = (part if type(part) is np.ndarray else np.asarray(part, dtype=float) for part in parts)
    return finite(np.concatenate([*arrays]) if parts else np.empty(0))


def finite(values: Array) -> Array:
    """In place: DuckDB takes NaN in an array for missing, but infinity for a number."""
    import numpy as np

    values[np.isinf(values)] = np.nan
    return values
