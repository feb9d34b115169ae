"""What a server says of itself beside a step: what it has counted, how things stand, how large its tables are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple

from stepgrid.model.step_start import CACHE as CACHE
from stepgrid.model.step_start import CACHED as CACHED
from stepgrid.model.step_start import DATA as DATA
from stepgrid.model.step_start import INDEX as INDEX

NOTHING: Mapping[str, float] = MappingProxyType({})


class ObjectSize(NamedTuple):
    """A row of the table `sizes`: a table, or one of its indexes. What an engine does not know is None."""

    schema_name: str
    table_name: str
    index_name: str | None = None  # None: of the table
    family: str | None = None  # column family
    rows: float | None = None
    bytes: float | None = None
    dead_rows: float | None = None
    tombstones: float | None = None
    bloat_bytes: float | None = None


class ServerStatistics(NamedTuple):
    counters: Mapping[str, float] = NOTHING  # what only grows: the difference says something
    gauges: Mapping[str, float] = NOTHING  # what is as it is at the moment
    sizes: Mapping[str, float] = NOTHING  # by metric: how large things are at the moment
    text: str = ""  # for people: kept as it is
    garbage: Mapping[str, float] = NOTHING  # by metric: what the engine has yet to clean up
    work: Mapping[str, float] = NOTHING  # by metric, and only grows: what it came to over a step is that metric
    objects: Sequence[ObjectSize] = ()
    levels: Sequence[Mapping[str, float | str]] | None = None  # of LSM trees, by columns of the table `levels`
    state: Mapping[str, float] = NOTHING  # by the names of model.step_start: of what no metric says


class StatisticsReader(NamedTuple):
    name: str  # in a warning, and of the file of its text
    read: Callable[[], ServerStatistics]  # LookupError: the server has no such view, which is said once
    after_only: bool = False  # it says what a step has left, and nothing before it


# What leaves the least trace in the others' counters comes last: after a step they are read in the opposite order.
Looks = Sequence[StatisticsReader]


def apart(seen: Mapping[str, float], gauges: Sequence[str]) -> ServerStatistics:
    """`gauges`: patterns of names."""
    still = {name: value for name, value in seen.items() if any(fnmatchcase(name, each) for each in gauges)}
    return ServerStatistics({name: value for name, value in seen.items() if name not in still}, still)


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """A text of rows: JSON, one a line."""
    return "".join(f"{json.dumps(row, default=str)}\n" for row in rows)
