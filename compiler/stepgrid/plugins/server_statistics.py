"""What a server says of itself beside a step: what it has counted, how things stand, how large its tables are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NamedTuple

NOTHING: Mapping[str, float] = MappingProxyType({})
DATA, INDEX = "data_bytes", "index_bytes"  # sizes, by the metrics that they are


class ServerStatistics(NamedTuple):
    counters: Mapping[str, float] = NOTHING  # what only grows: the difference says something
    gauges: Mapping[str, float] = NOTHING  # what is as it is at the moment
    sizes: Mapping[str, float] = NOTHING  # B, by metric
    text: str = ""  # for people: kept as it is


class StatisticsReader(NamedTuple):
    name: str  # in a warning, and of the file of its text
    read: Callable[[], ServerStatistics]


# What leaves the least trace in the others' counters comes last: after a step they are read in the opposite order.
Looks = Sequence[StatisticsReader]


def apart(seen: Mapping[str, float], gauges: Sequence[str]) -> ServerStatistics:
    """`gauges`: patterns of names."""
    still = {name: value for name, value in seen.items() if any(fnmatchcase(name, each) for each in gauges)}
    return ServerStatistics({name: value for name, value in seen.items() if name not in still}, still)
