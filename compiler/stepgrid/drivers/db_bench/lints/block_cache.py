"""The block cache: its kind and its shards."""

from __future__ import annotations

from stepgrid.drivers.db_bench.lints.changed_defaults import cache_type
from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts, release
from stepgrid.model.number_format import size

_SINCE = {"hyper_clock_cache": (7, 7), "auto_hyper_clock_cache": (8, 6), "fixed_hyper_clock_cache": (8, 6)}
_GONE = {"clock_cache": (7, 7), "fast_lru_cache": (7, 9)}
_OPTION_SINCE = (7, 4)
_PLACEHOLDER = (8, 6)
# what RocksDB keeps to when it chooses the number of shards itself (GetDefaultCacheShardBits)
_SMALLEST = {"lru_cache": 512 * 2**10, "fast_lru_cache": 512 * 2**10}
_SMALLEST_CLOCK = 32 * 2**20
_MOST_BITS = 20  # RocksDB takes fewer


def _lacking(facts: Facts) -> Verdict | None:
    if facts["kind"] != "db_bench":
        return None
    kind, has = str(facts["cache_type"]), facts["release"]
    if has < _OPTION_SINCE:
        if facts["cache_type.unsupported"] != "error":
            return None  # dropped, or the cell is recorded as unsupported
        message = f"RocksDB {release(has)} has no option cache_type: it came with 7.4"
    elif has < _SINCE.get(kind, has):
        message = f"RocksDB {release(has)} has no {kind}: it came with {release(_SINCE[kind])}"
    elif has >= _GONE.get(kind, (*has, 0)):
        return Verdict("cache_type", f"RocksDB {release(has)} has no {kind}: it went with {release(_GONE[kind])}")
    else:
        return None
    hint = f"`cache_type: [{{when: \"has('{kind if kind in _SINCE else 'cache_type'}')\", value: {kind}}}]`"
    return Verdict("cache_type", message, hint)


def _placeholder(facts: Facts) -> Verdict | None:
    if facts["release"][:2] != _PLACEHOLDER or facts["cache_type"] != "auto_hyper_clock_cache":
        return None
    message = "in RocksDB 8.6 auto_hyper_clock_cache is a placeholder: a table of fixed size, for entries of 450 bytes"
    hint = "fixed_hyper_clock_cache, whose entries count with block_size; the automatic one came with 8.7"
    return Verdict("cache_type", message, hint)


def _shards(facts: Facts) -> Verdict | None:
    bits, capacity = min(facts.amount("cache_numshardbits", -1), _MOST_BITS), facts.amount("cache_size", 0)
    if facts["kind"] != "db_bench" or bits <= 0 or capacity <= 0:
        return None
    kind = str(facts["cache_type"] or cache_type(facts["release"] or ()))
    smallest = _SMALLEST.get(kind, _SMALLEST_CLOCK)
    shard = capacity / 2**bits
    if shard >= smallest:
        return None
    message = f"{2**bits:.0f} shards of {size(shard)} each: RocksDB itself makes none of {kind} below {size(smallest)}"
    return Verdict("cache_numshardbits", message, "leave it out (-1), or fewer bits")


RULES = (
    Rule("cache-type-lacking", "a cache type that the release does not have",
         each_step(("kind", "cache_type.unsupported"), _lacking, ("cache_type", "release"))),
    Rule("cache-shards-tiny", "so many cache shards that each is tiny",
         each_step(("kind", "cache_type", "release"), _shards, ("cache_size", "cache_numshardbits"))),
    Rule("cache-type-placeholder", "the automatic cache of a release that does not have it yet",
         each_step((), _placeholder, ("cache_type", "release"))),
)  # fmt: skip
