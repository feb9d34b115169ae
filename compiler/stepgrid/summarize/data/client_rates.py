"""What each client did by the second: many rows, which are read for the steps alone that are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stepgrid.collect import parquet
from stepgrid.collect.query import table_source
from stepgrid.collect.series import mark_stalls

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Place = tuple[str, int]
_ROWS = "SELECT client, second, per_second FROM {} WHERE stage = ? AND position = ? AND operation = ? ORDER BY ALL"


class ClientLine(NamedTuple):
    """One client's operation over time."""

    client: int
    seconds: Sequence[float]
    rates: Sequence[float]

    @property
    def whole(self) -> list[tuple[float, float]]:
        """(Second, rate), without a last interval that is less than half as long as the one before."""
        pairs = list(zip(self.seconds, self.rates, strict=True))
        ends = [0.0, *self.seconds][-3:]
        short = len(ends) == 3 and ends[2] - ends[1] < (ends[1] - ends[0]) / 2
        return pairs[:-1] if short else pairs

    @property
    def stalls(self) -> list[float]:
        """The seconds in which it stood still."""
        return [second for second, stall in zip(self.seconds, mark_stalls(self.rates), strict=True) if stall]


class ClientRates(Mapping[Place, Sequence[str]]):
    """The operations of each step that has such rates; `lines` reads those of one."""

    def __init__(self, folder: Path, operations: Iterable[tuple[str, int, str]] = ()) -> None:
        self._folder = folder
        self._operations: dict[Place, list[str]] = {}
        for stage, position, operation in operations:
            self._operations.setdefault((stage, position), []).append(operation)

    def __getitem__(self, place: Place) -> Sequence[str]:
        return self._operations[place]

    def __iter__(self) -> Iterator[Place]:
        return iter(self._operations)

    def __len__(self) -> int:
        return len(self._operations)

    def lines(self, place: Place, operation: str) -> list[ClientLine]:
        with parquet.connect() as connection:
            query = _ROWS.format(table_source(self._folder, "rates"))
            rows = connection.execute(query, [*place, operation]).fetchall()
        return [_line(client, [*rows]) for client, rows in groupby(rows, itemgetter(0))]


def _line(client: int, rows: Sequence[tuple[int, float, float]]) -> ClientLine:
    return ClientLine(client, [second for _, second, _ in rows], [rate for _, _, rate in rows])


def client_rates(connection: DuckDBPyConnection, folder: Path) -> ClientRates:
    query = "SELECT DISTINCT stage, position, operation FROM rates ORDER BY ALL"
    return ClientRates(folder, connection.execute(query).fetchall())
