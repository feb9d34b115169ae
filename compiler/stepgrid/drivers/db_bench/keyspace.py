"""Which keys the steps of a sequence leave in the database, and how many of its lookups a step should find. Pure.

db_bench numbers its keys from 0. What is worked out here is a lower bound, or unknown. Keys beyond those that were
loaded are not expected to be missed: who looks them up measures something else, and hears of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple, Protocol

from stepgrid.drivers.db_bench.benchmarks import DRAINING, PRINTING, first_measured

_READS = {
    *("readrandom", "readrandomsmall", "readrandomoperands", "readrandomentity", "readwhilescanning"),
    *("multireadrandom", "multireadentity", "seekrandom"),
}
# lookups of random keys that the result line counts
LOOKUPS = _READS | {
    *("readwhilewriting", "readwhilemerging", "multireadwhilewriting", "mixgraph"),
    *("seekrandomwhilewriting", "seekrandomwhilemerging"),
}
_NO_WRITES = PRINTING | DRAINING | _READS | {"readrandomfast", "readmissing", "readseq", "readreverse", "readtocache"}
_MORE = {"mergerandom", "xorupdaterandom", "appendrandom", "readrandomwriterandom", "readrandommergerandom"}
_OVERWRITES = {"overwrite", "updaterandom"}
_WRITES = (LOOKUPS - _READS) | _MORE | _OVERWRITES
# options with which keys are chosen, lost or told apart in another way, and the values that leave all as it is
_OTHERWISE: Mapping[str, tuple[Any, ...]] = {
    "compaction_style": (0, 1, 3),  # 2: FIFO forgets
    "num_column_families": (0, 1),
    "num_hot_column_families": (0,),
    "num_multi_db": (0, 1),
    "user_timestamp_size": (0,),
    "writes_per_range_tombstone": (0,),
    "overwrite_probability": (0,),
    "blob_db_is_fifo": (False,),
    "blob_db_max_ttl_range": (0,),
    "use_existing_keys": (False,),
    "read_random_exp_range": (0,),
    "multiread_stride": (0,),
}
OPTIONS = frozenset((*_OTHERWISE, "deletes"))  # all that are looked at


class Step(Protocol):
    """A planned step, as far as it is looked at."""

    @property
    def kind(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def options(self) -> Mapping[str, Any]: ...


class Keyspace(NamedTuple):
    """(End, share): of the keys from the part before up to that end, so many are there; beyond the last, none."""

    parts: tuple[tuple[float, float], ...] = ()

    @property
    def end(self) -> float:
        return max((end for end, share in self.parts if share > 0), default=0)

    def share(self, keys: float) -> float:
        """Of the first so many keys."""
        return math.fsum(size * share for size, share in self._sizes(keys)) / keys

    def is_full(self, keys: float) -> bool:
        return self.end >= keys and all(share == 1 for _, share in self._sizes(keys))

    def changed(self, keys: float, change: Callable[[float], float]) -> Keyspace:
        """`change` of the shares of the first so many keys."""
        found, begin = list[tuple[float, float]](), 0.0
        for end, share in (*self.parts, (max(keys, *(end for end, _ in self.parts), 0), 0.0)):
            inside = min(end, keys)
            if inside > begin:
                found.append((inside, change(share)))
            if end > max(begin, keys):
                found.append((end, share))
            begin = max(begin, end)
        return Keyspace(tuple(found))

    def _sizes(self, keys: float) -> Iterator[tuple[float, float]]:
        begin = 0.0
        for end, share in self.parts:
            if begin < keys:
                yield min(end, keys) - begin, share
            begin = end


EMPTY = Keyspace()


def found(steps: Iterable[Step]) -> list[float | None]:
    """Of each step of a sequence: the share of its lookups that should find a key; None where that is unknown."""
    rates: list[float | None] = []
    space: Keyspace | None = None
    for step in steps:
        space = before(space, step)
        rates.append(None if space is None else _rate(space, step))
        space = after(space, step)
    return rates


def before(space: Keyspace | None, step: Step) -> Keyspace | None:
    """What its first benchmark finds."""
    if _is_otherwise(step):
        return None
    return EMPTY if step.settings.get("fresh") else space


def after(space: Keyspace | None, step: Step) -> Keyspace | None:
    """`space`: what it found. A kind that is not known here may have written anything."""
    if step.kind == "quiesce":
        return space
    if step.kind != "db_bench" or _is_otherwise(step) or not step.settings.get("keys"):
        return None
    for name in step.settings["benchmarks"]:
        space = _ran(str(name), space, step)
    return space


def _rate(space: Keyspace, step: Step) -> float | None:
    names: Sequence[str] = step.settings.get("benchmarks", ()) if step.kind == "db_bench" else ()
    measured, keys = first_measured(names), step.settings.get("keys")
    if measured not in LOOKUPS or not keys:
        return None
    loaded = min(keys, space.end)
    if measured == "mixgraph" and not space.is_full(loaded):
        return None  # its keys are not all as likely
    return space.share(loaded) if loaded else 0.0


def _ran(name: str, space: Keyspace | None, step: Step) -> Keyspace | None:
    if name in _NO_WRITES:
        return space
    settings = step.settings
    keys, threads, timed = settings["keys"], settings.get("threads", 1), settings.get("duration") is not None
    each = settings.get("writes") or keys
    if name in _LOADS:
        return _LOADS[name](keys, each, threads, timed) if settings.get("fresh") else space  # else it is skipped
    if space is None:
        return None
    if name in _OVERWRITES and not timed:
        return space.changed(keys, lambda share: 1 - (1 - share) * _missed(each * threads, keys))
    if name in _WRITES:  # nobody knows how many keys: there are no fewer of those that were there
        return space if keys <= space.end else None
    return _deleted(name, space, step, timed)


def _deleted(name: str, space: Keyspace, step: Step, timed: bool) -> Keyspace | None:
    keys, deletes = step.settings["keys"], _deletes(step)
    each = keys if deletes is None or deletes < 0 else deletes
    if name == "deleteseq":
        return space.changed(each, lambda _: 0.0)
    if name == "deleterandom" and not timed:
        draws = each * step.settings.get("threads", 1)
        return space.changed(keys, lambda share: share * _missed(draws, keys))
    return None  # nobody knows what it does


def _sequential(keys: int, each: int, threads: int, timed: bool) -> Keyspace:
    """Every thread writes the same keys, whatever the duration."""
    return Keyspace(((each, 1.0),))


def _random(keys: int, each: int, threads: int, timed: bool) -> Keyspace | None:
    return None if timed else Keyspace(((keys, 1 - _missed(each * threads, keys)),))


def _unique(keys: int, each: int, threads: int, timed: bool) -> Keyspace | None:
    """db_bench does it with one thread, and has no more keys to give."""
    return Keyspace(((keys, each / keys),)) if each <= keys else None


_LOADS: Mapping[str, Callable[[int, int, int, bool], Keyspace | None]] = {
    "fillseq": _sequential,
    "fillbatch": _sequential,
    "fillrandom": _random,
    "filluniquerandom": _unique,
}


def _missed(draws: float, keys: float) -> float:
    """The share of the keys that so many random draws leave out."""
    return math.exp(-draws / keys)


def _deletes(step: Step) -> int | None:
    value = next((value for _, value in _values(step, {"deletes"})), None)
    return int(value) if isinstance(value, int | float) else None


def _is_otherwise(step: Step) -> bool:
    return any(value not in _OTHERWISE[name] for name, value in _values(step, _OTHERWISE.keys()))


def _values(step: Step, names: Set[str]) -> Iterator[tuple[str, Any]]:
    """Of the options that are given. By their parts: of many steps, few have one of these."""
    for part in getattr(step.options, "parts", (step.options,)):
        yield from ((name, getattr(part[name], "value", part[name])) for name in names & part.keys())
