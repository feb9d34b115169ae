"""The compaction tables of the steps' own trees: most reports show none, so they are read when one is shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.collect import parquet, query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Place = tuple[str, int]
Level = Mapping[str, Any]
_SHOWN = "level IS NOT NULL AND coalesce(family, 'default') = 'default'"  # tables show the tree of the data


class Levels(Mapping[Place, Sequence[Level]]):
    def __init__(self, folder: Path, places: Iterable[Place]) -> None:
        self._folder, self._places = folder, dict.fromkeys(places)

    def __getitem__(self, place: Place) -> Sequence[Level]:
        return self._rows[place]

    def __contains__(self, place: object) -> bool:
        return place in self._places

    def __iter__(self) -> Iterator[Place]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    @cached_property
    def _rows(self) -> Mapping[Place, Sequence[Level]]:
        found: dict[Place, list[Level]] = defaultdict(list)
        with parquet.connect() as connection:
            rows = connection.execute(f"SELECT * FROM {query.table_source(self._folder, 'levels')} WHERE {_SHOWN}")
            names = [column[0] for column in rows.description or ()]
            for row in rows.fetchall():
                each = dict(zip(names, row, strict=True))
                found[each["stage"], each["position"]].append(each)
        return found


def levels(connection: DuckDBPyConnection, folder: Path) -> Levels:
    return Levels(folder, connection.execute(f"SELECT DISTINCT stage, position FROM levels WHERE {_SHOWN}").fetchall())
