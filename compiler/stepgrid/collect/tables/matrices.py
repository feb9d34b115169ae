"""Rows that are mostly numbers: those of a step become an array at once, while they are still in the CPU's cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from stepgrid.collect.tables.parquet_columns import NUMBER, Point, Rows, finite

if TYPE_CHECKING:
    from stepgrid.collect.tables.parquet_columns import Array

Numbers = Iterable[float | None]


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
        return _columns(self._own, self._matrices)


class Records(Rows):
    """Rows come by name: what a row lacks is missing."""

    def __init__(self, types: Mapping[str, str]) -> None:
        super().__init__(types)
        self._numbers = [name for name in self._own if types[name] == NUMBER]
        self._texts: dict[str, list[Any]] = {name: [] for name in self._own if types[name] != NUMBER}
        self._matrices: list[Array] = []

    def add(self, point: Point, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            self._grow(point, len(rows))
            self._matrices.append(matrix(len(self._numbers), (map(row.get, self._numbers) for row in rows)))
            for name, found in self._texts.items():
                found.extend(row.get(name) for row in rows)

    def _values(self) -> dict[str, Any]:
        import numpy as np

        texts = {name: np.array(found, object) for name, found in self._texts.items()}
        return {**texts, **_columns(self._numbers, self._matrices)}


class Figures:
    """Rows of numbers by name, whose columns are known at the end; most rows have the names of an earlier one."""

    def __init__(self, *names: str) -> None:
        self._names = {names: None}
        self._rows: list[tuple[tuple[str, ...], Array]] = []

    def add(self, row: Mapping[str, float | None]) -> None:
        import numpy as np

        names = tuple(row)
        self._names[names] = None
        self._rows.append((names, np.array([*row.values()], float)))

    def arrays(self) -> dict[str, Any]:
        """In the order in which their names were first seen."""
        import numpy as np

        at = {name: index for index, name in enumerate(dict.fromkeys(chain.from_iterable(self._names)))}
        places = {names: [at[name] for name in names] for names in self._names}
        whole = np.full((len(self._rows), len(at)), np.nan)
        for row, (names, values) in zip(whole, self._rows, strict=True):
            row[places[names]] = values
        return _columns(list(at), [whole.T])


def matrix(width: int, rows: Iterable[Numbers]) -> Array:
    """A row for each of `width` columns. All numbers in one list: numpy takes several times as long for one of rows."""
    import numpy as np

    return np.array([*chain.from_iterable(rows)], float).reshape(-1, width).T


def _columns(names: Sequence[str], matrices: Sequence[Array]) -> dict[str, Any]:
    import numpy as np

    whole = np.concatenate(matrices or [np.empty((len(names), 0))], axis=1)
    return dict(zip(names, finite(whole), strict=True))
