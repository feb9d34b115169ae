"""Which keys the steps of a sequence leave in the database, and how many of its lookups a step should find. Pure.

db_bench numbers its keys from 0. The results are lower bounds, or unknown. Keys beyond those that were loaded are
not expected to be missed: a step that looks them up measures something else, and a rule reports it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple, Protocol

from stepgrid_databases.drivers.db_bench.benchmarks import DRAINING, PRINTING, first_measured

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
_OVERWRITES = {"overwrite", "updaterandom"}
_WRITES = (LOOKUPS - _READS) | {
    *_OVERWRITES,
    *("mergerandom", "xorupdaterandom", "appendrandom", "readrandomwriterandom", "readrandommergerandom"),
}
# options with which keys are chosen, lost or told apart in another way -> the values that leave all as it is
_HARMLESS_VALUES: Mapping[str, tuple[Any, ...]] = {
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
OPTIONS = frozenset((*_HARMLESS_VALUES, "deletes"))  # all that this module reads


class KeyspaceStep(Protocol):
    """A planned step, as far as this module reads it."""

    @property
    def kind(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def options(self) -> Mapping[str, Any]: ...


class Keyspace(NamedTuple):
    """Parts of (end, share): the share of the keys from the part before up to that end that exist; none beyond."""

    parts: tuple[tuple[float, float], ...] = ()

    @property
    def end(self) -> float:
        return max((end for end, share in self.parts if share > 0), default=0)

    def share(self, keys: float) -> float:
        """Compute the share of the first so many keys that exist."""
        return math.fsum(size * share for size, share in self._sizes(keys)) / keys

    def is_full(self, keys: float) -> bool:
        return self.end >= keys and all(share == 1 for _, share in self._sizes(keys))

    def change(self, keys: float, new_share: Callable[[float], float]) -> Keyspace:
        """Apply `new_share` to the shares of the first so many keys."""
        parts, begin = list[tuple[float, float]](), 0.0
        for end, share in (*self.parts, (max(keys, *(end for end, _ in self.parts), 0), 0.0)):
            inside = min(end, keys)
            if inside > begin:
                parts.append((inside, new_share(share)))
            if end > max(begin, keys):
                parts.append((end, share))
            begin = max(begin, end)
        return Keyspace(tuple(parts))

    def _sizes(self, keys: float) -> Iterator[tuple[float, float]]:
        begin = 0.0
        for end, share in self.parts:
            if begin < keys:
                yield min(end, keys) - begin, share
            begin = end


EMPTY = Keyspace()


def hit_rates(steps: Iterable[KeyspaceStep]) -> list[float | None]:
    """Compute the share of each step's lookups that should find a key; None if that is unknown."""
    rates: list[float | None] = []
    space: Keyspace | None = None
    for step in steps:
        space = keys_before(space, step)
        rates.append(None if space is None else _hit_rate(space, step))
        space = keys_after(space, step)
    return rates


def keys_before(space: Keyspace | None, step: KeyspaceStep) -> Keyspace | None:
    """Keys that the first benchmark of a step finds."""
    if _chooses_otherwise(step):
        return None
    return EMPTY if step.settings.get("fresh") else space


def keys_after(space: Keyspace | None, step: KeyspaceStep) -> Keyspace | None:
    """Keys after a step that found `space`. A kind that this module does not know may have written anything."""
    if step.kind == "quiesce":
        return space
    if step.kind != "db_bench" or _chooses_otherwise(step) or not step.settings.get("keys"):
        return None
    for name in step.settings["benchmarks"]:
        space = _run_benchmark(str(name), space, step)
    return space


def _hit_rate(space: Keyspace, step: KeyspaceStep) -> float | None:
    names: Sequence[str] = step.settings.get("benchmarks", ()) if step.kind == "db_bench" else ()
    measured, keys = first_measured(names), step.settings.get("keys")
    if measured not in LOOKUPS or not keys:
        return None
    loaded = min(keys, space.end)
    if measured == "mixgraph" and not space.is_full(loaded):
        return None  # its keys are not all as likely
    return space.share(loaded) if loaded else 0.0


def _run_benchmark(name: str, space: Keyspace | None, step: KeyspaceStep) -> Keyspace | None:
    settings = step.settings
    keys, threads, timed = settings["keys"], settings.get("threads", 1), settings.get("duration") is not None
    writes = settings.get("writes") or keys  # of each thread
    if name in _NO_WRITES:
        return space
    if name in _LOADS:  # skipped where a database exists
        return _LOADS[name](keys, writes, None if timed else threads) if settings.get("fresh") else space
    if space is None:
        return None
    if name in _OVERWRITES and not timed:
        missed = _missed_share(writes * threads, keys)
        return space.change(keys, lambda share: 1 - (1 - share) * missed)
    if name in _WRITES:  # of an unknown number of keys: those that existed stay
        return space if keys <= space.end else None
    option = next((value for _, value in _option_values(step, {"deletes"})), None)
    deletes = int(option) if isinstance(option, int | float) and int(option) >= 0 else keys
    if name == "deleteseq":
        return space.change(deletes, lambda _: 0.0)
    if name == "deleterandom" and not timed:
        missed = _missed_share(deletes * threads, keys)
        return space.change(keys, lambda share: share * missed)
    return None  # an unknown benchmark


def _load_in_order(keys: int, writes: int, threads: int | None) -> Keyspace:
    """Load with threads that all write the same keys, whatever the duration."""
    return Keyspace(((writes, 1.0),))


def _load_at_random(keys: int, writes: int, threads: int | None) -> Keyspace | None:
    """Load with threads, or by the clock (None)."""
    if threads is None:
        return None
    return Keyspace(((keys, 1 - _missed_share(writes * threads, keys)),))


def _load_unique(keys: int, writes: int, threads: int | None) -> Keyspace | None:
    """Load with one thread, as db_bench does, which has no more keys to give."""
    if writes > keys:
        return None
    return Keyspace(((keys, writes / keys),))


_LOADS: Mapping[str, Callable[[int, int, int | None], Keyspace | None]] = {
    "fillseq": _load_in_order,
    "fillbatch": _load_in_order,
    "fillrandom": _load_at_random,
    "filluniquerandom": _load_unique,
}


def _missed_share(draws: float, keys: float) -> float:
    """Compute the share of the keys that so many random draws leave out."""
    return math.exp(-draws / keys)


def _chooses_otherwise(step: KeyspaceStep) -> bool:
    return any(value not in _HARMLESS_VALUES[name] for name, value in _option_values(step, _HARMLESS_VALUES.keys()))


def _option_values(step: KeyspaceStep, names: Set[str]) -> Iterator[tuple[str, Any]]:
    """List those of the options that a step has, by their parts: of many steps, few have one of these."""
    for part in getattr(step.options, "parts", (step.options,)):
        yield from ((name, getattr(part[name], "value", part[name])) for name in names & part.keys())
