"""Columns to a Parquet file: figures of many steps go there as arrays, never row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from compiler.collect.parquet import named, options, quoted
from compiler.store.durable import replacing

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Column = Array | Sequence[Any]

NUMBER = "DOUBLE"
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

        keys = {name: np.array([getattr(point, name) for point in self._points], object) for name in Point._fields}
        repeated = {name: np.repeat(values, self._counts) for name, values in keys.items() if name in self.types}
        return {**repeated, **self._values()}

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


class Grid(Rows):
    """All columns of its own are numbers, and those of a step come as one matrix, a row for each column."""

    def __init__(self, types: Mapping[str, str]) -> None:
        super().__init__(types)
        self._matrices: list[Array] = []

    def add(self, point: Point, values: Array) -> None:
        if count := values.shape[1]:
            self._grow(point, count)
            self._matrices.append(values)

    def _values(self) -> dict[str, Any]:
        import numpy as np

        whole = np.concatenate(self._matrices or [np.empty((len(self._own), 0))], axis=1)
        return dict(zip(self._own, np.ma.masked_invalid(whole, copy=False), strict=True))


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
    found = np.concatenate([*arrays]) if parts else np.empty(0)
    return np.ma.masked_invalid(found, copy=False)
