"""Rules about one step of db_bench: its benchmark, and the options that make it measure something else."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from stepgrid.lint.rule import Facts, Rule, Verdict, each_step, release
from stepgrid.model.plan import inner_texts
from stepgrid.model.units import exact_size, size
from stepgrid.plugins.driver import DeclaredBuild
from stepgrid_databases.drivers.db_bench.benchmarks import (
    FIRST_RELEASES,
    LOADS,
    READ_ONLY,
    Release,
    has_background_writer,
    resolved_benchmark,
)
from stepgrid_databases.drivers.db_bench.command import OBSERVATION

_INTERVAL = "report_interval_seconds"
_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)")


def step_facts(settings: Mapping[str, Any], build: DeclaredBuild) -> Mapping[str, Any]:
    speedb = any("speedb" in text.lower() for text in inner_texts(build.source))  # it is a RocksDB in everything else
    return {"benchmark": resolved_benchmark(settings), "release": declared_release(build), "speedb": speedb}


def declared_release(build: DeclaredBuild) -> Release | None:
    """Split the release of RocksDB that a build is, or, for a fork, is based on."""
    match = _NUMBERS.match(build.version)
    return tuple(int(part) for part in match[1].split(".")) if match else None


# Benchmarks


def _missing_benchmark(facts: Facts) -> Verdict | None:
    names, version = facts["step.benchmarks"], facts["release"]
    if facts["kind"] != "db_bench" or not isinstance(names, tuple):
        return None
    name = next((str(name) for name in names if FIRST_RELEASES.get(str(name), ()) > version), None)
    if name is None:
        return None
    first = release(FIRST_RELEASES[name])
    message = f"step `{facts['step']}` asks for {name}: RocksDB {release(version)} has none, it came with {first}"
    return Verdict("step.benchmarks", message, f"`{{when: \"version >= '{first}'\", value: {name}}}`")


def _without_series(facts: Facts) -> Verdict | None:
    if facts["kind"] != "db_bench":
        return None
    step, duration = f"step `{facts['step']}`: `until: steady` needs a series of rates", facts["step.duration"]
    if facts["benchmark"] is None:
        return Verdict("step.benchmarks", f"{step}, and {facts['step.benchmarks'][0]} counts no operations")
    interval = facts.amount(_INTERVAL, OBSERVATION[_INTERVAL])
    if 0 < interval < duration:
        return None
    return Verdict(_INTERVAL, f"{step}, and the step ends before db_bench reports one: {_INTERVAL} is {interval:g}")


def _unlimited_writer(facts: Facts) -> Verdict | None:
    if not facts["measured"] or not has_background_writer(facts["benchmark"]) or facts.has("step.write_rate"):
        return None
    message = (
        f"step `{facts['step']}` has a background writer without a rate: how fast it happens to be decides the reads"
    )
    return Verdict("step", message, "`write_rate: 2MiB`, as in the published setups")


def _seeks_alone(facts: Facts) -> Verdict | None:
    is_scan = any(word in str(facts["step"]).lower() for word in ("range", "scan"))
    if not is_scan or not str(facts["benchmark"]).startswith("seekrandom") or facts.amount("seek_nexts", 0) > 0:
        return None
    message = f"step `{facts['step']}` seeks and reads nothing after it: seek_nexts is 0"
    return Verdict("step", message, "`options: {seek_nexts: 10}`")


def _reads_alone(facts: Facts) -> Verdict | None:
    if not facts["measured"] or facts["benchmark"] not in READ_ONLY:
        return None
    message = f"step `{facts['step']}` only reads: the shape that the tree happens to have decides the result"
    return Verdict("step", message, "measure reads while writing, such as readwhilewriting, which has no one shape")


# Loads: what caps, cuts, slows or multiplies them


def _capped_load(facts: Facts) -> Verdict | None:
    total = facts.amount("step.writes", 0) * facts.amount("step.threads", 1)
    keys = facts.amount("step.keys", 0)
    if facts["benchmark"] not in LOADS or total >= keys:
        return None
    message = f"step `{facts['step']}` loads {total:,.0f} of {keys:,.0f} keys: `writes` caps a load too"
    return Verdict("step.writes", message, f"`{{use: {facts['step']}, writes: null}}`")


def _cut_load(facts: Facts) -> Verdict | None:
    if facts["benchmark"] not in ("fillrandom", "filluniquerandom") or not facts["step.fresh"]:
        return None
    message = (
        f"step `{facts['step']}` stops after {facts['step.duration']:g} s, however many keys it has loaded by then"
    )
    return Verdict("step.duration", message, f"`{{use: {facts['step']}, duration: null}}`")


def _slowed_load(facts: Facts) -> Verdict | None:
    if facts["benchmark"] not in LOADS:
        return None
    rate = size(facts["step.write_rate"])
    message = f"step `{facts['step']}` is held to {rate} a second: a write rate is obeyed by a load too"
    return Verdict("step.write_rate", message, f"`{{use: {facts['step']}, write_rate: null}}`")


def _multiplied_load(facts: Facts) -> Verdict | None:
    threads, keys = facts.amount("step.threads", 1), facts.amount("step.keys", 0)
    total = facts.amount("step.writes", keys) * threads
    if facts["benchmark"] not in LOADS or threads <= 1 or total <= keys:
        return None
    message = f"step `{facts['step']}` writes {total:,.0f} rows: each of {threads:.0f} threads loads all keys"
    return Verdict("step.threads", message, f"`{{use: {facts['step']}, threads: 1}}`")


def _keys_remainder(facts: Facts) -> Verdict | None:
    keys, threads = facts.amount("step.keys", 0), facts.amount("step.threads", 1)
    missing = keys - facts.amount("step.writes", 0) * threads
    if not 0 < missing < threads:
        return None
    message = (
        f"step `{facts['step']}` writes {missing:,.0f} rows too few: {keys:,.0f} keys do not divide by {threads:.0f}"
    )
    return Verdict("step.writes", message, "choose a number of keys that all thread counts divide")


# mixgraph: the workload of the paper on social graphs, easy to run as something else

_MIXGRAPH = "mixgraph"
_SINE_INTERVAL = "sine_mix_rate_interval_milliseconds"
_SINE = ("sine_a", "sine_b", "sine_d")
_KEY_RANGES = ("keyrange_dist_a", "keyrange_dist_b", "keyrange_dist_c", "keyrange_dist_d")
_KEYS = ("key_dist_a", "key_dist_b")
_SCAN = ("iter_k", "iter_sigma")
_PAPER_SCAN = "the paper's: iter_k: 2.517, iter_sigma: 14.236"
_PAPER_SCAN_DEFAULT = (7, 1)  # from here on db_bench's own iter_k and iter_sigma are those of the paper
_SINE_SWITCH = (6, 26)  # before, the sine is on whatever sine_mix_rate says
_RANGES_NEED_KEYS = (6, 11)  # from here on a distribution over ranges does nothing without the one of keys


def _mix_threads(facts: Facts) -> Verdict | None:
    threads = facts.amount("step.threads", 1)
    if facts["benchmark"] != _MIXGRAPH or threads <= 1:
        return None
    message = (
        f"step `{facts['step']}` runs mixgraph with {threads:,.0f} threads: together they are not the mix asked for"
    )
    hint = "one thread: each makes the whole distribution by itself (rocksdb issue 9651)"
    return Verdict("step.threads", message, hint)


def _scan_length(facts: Facts) -> Verdict | None:
    if facts["benchmark"] != _MIXGRAPH or facts.amount("mix_seek_ratio", 0) <= 0:
        return None
    zero = [name for name in _SCAN if facts.has(name) and facts.amount(name, 1) == 0]
    if zero:
        return Verdict(zero[0], f"mixgraph with {zero[0]}: 0: its scans have a length of zero", _PAPER_SCAN)
    missing = [name for name in _SCAN if not facts.has(name)]
    if not missing or facts["release"] >= _PAPER_SCAN_DEFAULT:
        return None
    message = f"mixgraph without {' and '.join(missing)}: before RocksDB 7.1 its scans then have a length of zero"
    return Verdict("step", message, _PAPER_SCAN)


def _idle_sine(facts: Facts) -> Verdict | None:
    option = next(filter(facts.has, _SINE), None)
    if facts["benchmark"] != _MIXGRAPH or not option or facts.is_on("sine_mix_rate"):
        return None
    if facts["release"] < _SINE_SWITCH:
        return None
    return Verdict(option, f"`{option}` does nothing: sine_mix_rate is off", "add `sine_mix_rate: true`")


def _unasked_sine(facts: Facts) -> Verdict | None:
    if facts["benchmark"] != _MIXGRAPH or facts["release"] >= _SINE_SWITCH or facts.is_on("sine_mix_rate"):
        return None
    begin = facts.amount(_SINE_INTERVAL, 10_000) / 1000
    if begin >= facts.amount("step.duration", math.inf):
        return None
    message = f"before RocksDB 6.26 mixgraph is held to its sine unasked, after {begin:g} s"
    return Verdict("step", message, f"`sine_a: 0`, `sine_d: 0` and `{_SINE_INTERVAL}: 1000000000`: it never looks")


def _single_key_range(facts: Facts) -> Verdict | None:
    option = next(filter(facts.has, _KEY_RANGES), None)
    if facts["benchmark"] != _MIXGRAPH or not option:
        return None
    if facts.amount("keyrange_num", 1) <= 1:
        message = f"`{option}` spreads the keys over one range: keyrange_num is 1"
        return Verdict(option, message, "the paper has `keyrange_num: 30`")
    missing = [name for name in _KEYS if not facts.amount(name, 0)]
    if not missing or facts["release"] < _RANGES_NEED_KEYS:
        return None
    message = f"`{option}` does nothing: without {' and '.join(missing)} mixgraph takes keys evenly from all"
    return Verdict(option, message, "the paper's: key_dist_a: 0.002312, key_dist_b: 0.3467")


# Memtable

_REPRESENTATION, _CONCURRENT = "memtablerep", "allow_concurrent_memtable_write"
_SINGLE_WRITER = ("vector", "prefix_hash", "hash_linkedlist", "cuckoo")
_CONCURRENT_DEFAULT = (5, 7)  # before, db_bench itself says false
_CONCURRENT_VECTOR = (10, 4)


def _concurrent_memtable(facts: Facts) -> Verdict | None:
    kind, version = facts[_REPRESENTATION], facts["release"]
    if kind not in _SINGLE_WRITER or not facts.is_on(_CONCURRENT, default=version >= _CONCURRENT_DEFAULT):
        return None
    if kind == "vector" and version >= _CONCURRENT_VECTOR:
        return None
    message = f"RocksDB does not open a database with `memtablerep: {kind}` and concurrent memtable writes"
    return Verdict(_REPRESENTATION, message, f"add `{_CONCURRENT}: false`")


def _vector_reads(facts: Facts) -> Verdict | None:
    if facts[_REPRESENTATION] != "vector" or facts["benchmark"] in LOADS:
        return None
    message = (
        f"step `{facts['step']}` has a vector memtable, which is for bulk loads: each read in it sorts or scans it"
    )
    return Verdict(_REPRESENTATION, message, "give it to the load step alone")


def _vector_of_speedb(facts: Facts) -> Verdict | None:
    if not facts["speedb"] or facts[_REPRESENTATION] != "vector":
        return None
    message = (
        f"Speedb's db_bench does not know `memtablerep: vector`: step `{facts['step']}` writes into a skip list, and "
        "nothing says so"
    )
    return Verdict(_REPRESENTATION, message, "compare it with what RocksDB does with `memtablerep: skip_list`")


# Levels: sizes and triggers of the first ones

_SIZES = ("write_buffer_size", "level0_file_num_compaction_trigger", "max_bytes_for_level_base")
_MERGE = "min_write_buffer_number_to_merge"
_TRIGGERS = ("level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger", "level0_stop_writes_trigger")
_TRIGGER_DEFAULTS = (4, 20, 36)
_UNIVERSAL = 1


def _large_level0(facts: Facts) -> Verdict | None:
    option = next(filter(facts.has, _SIZES), None)
    if facts["kind"] != "db_bench" or not option or facts.amount("compaction_style", 0) != 0:
        return None
    files = facts.amount("level0_file_num_compaction_trigger", 4)
    buffer = facts.amount("write_buffer_size", 64 * 2**20) * max(1, facts.amount(_MERGE, 1))
    level0, target = files * buffer, facts.amount("max_bytes_for_level_base", 256 * 2**20)
    if level0 <= target:
        return None
    sizes = f"{files:.0f} x {size(buffer)} = {size(level0)}"
    message = f"L0 holds {sizes} when its compaction starts, more than L1's target of {size(target)}"
    needed = exact_size(round(level0)).replace(" ", "")
    return Verdict(option, message, f"`max_bytes_for_level_base: {needed}`, or smaller write buffers")


def _trigger_order(facts: Facts) -> Verdict | None:
    option = next(filter(facts.has, reversed(_TRIGGERS)), None)
    values = [facts.amount(name, default) for name, default in zip(_TRIGGERS, _TRIGGER_DEFAULTS, strict=True)]
    if facts["kind"] != "db_bench" or not option or values == sorted(values):
        return None
    numbers = ", ".join(f"{value:.0f}" for value in values)
    message = f"the L0 triggers for compaction, slowdown and stop are {numbers}: RocksDB changes them so that they rise"
    return Verdict(option, message, "level0_file_num_compaction_trigger ≤ level0_slowdown_… ≤ level0_stop_…")


def _universal_wait(facts: Facts) -> Verdict | None:
    benchmarks = facts["step.benchmarks"]
    if facts.amount("compaction_style", 0) != _UNIVERSAL or "waitforcompaction" not in benchmarks:
        return None
    if facts["release"] >= (8, 7):
        return None
    message = f"step `{facts['step']}` may hang: waitforcompaction under universal compaction before RocksDB 8.7"
    hint = "`{when: \"has('waitforcompaction_universal')\", value: waitforcompaction}` (rocksdb issue 9275)"
    return Verdict("step", message, hint)


# Direct and buffered IO

_DIRECT_READS, _DIRECT_WRITES = "use_direct_reads", "use_direct_io_for_flush_and_compaction"


def _synced_direct_writes(facts: Facts) -> Verdict | None:
    amount = facts.amount("bytes_per_sync", 0)
    if not facts.is_on(_DIRECT_WRITES) or amount <= 0:
        return None
    message = f"`bytes_per_sync` is {size(amount)} with direct writes, which leave nothing in the page cache to sync"
    return Verdict("bytes_per_sync", message, "`bytes_per_sync: 0` where IO is direct")


def _half_direct(facts: Facts) -> Verdict | None:
    reads, writes = facts.is_on(_DIRECT_READS), facts.is_on(_DIRECT_WRITES)
    if reads == writes:
        return None
    on, off = (_DIRECT_READS, _DIRECT_WRITES) if reads else (_DIRECT_WRITES, _DIRECT_READS)
    message = f"`{on}` without `{off}`: the same files go through the page cache and past it"
    return Verdict(on, message, f"set `{off}` too, or neither")


def _mapped_direct(facts: Facts) -> Verdict | None:
    for mapped, direct in (("mmap_read", _DIRECT_READS), ("mmap_write", _DIRECT_WRITES)):
        if facts.is_on(mapped) and facts.is_on(direct):
            return Verdict(mapped, f"RocksDB refuses `{mapped}` together with `{direct}`", "keep one of them")
    return None


# Compaction readahead: by release, device and kind of IO

FOLLOWS_LIBRARY: Release = (8, 7)  # db_bench takes the library's readahead from here on

_READAHEAD = "compaction_readahead_size"
_LIMIT = "hardware.storage.max_sectors_kb"
_PREFETCHES = (8, 5)  # from here on compaction asks the kernel: for the readahead and a block
_RAISED = ((5, 3), (8, 6, 1))  # between them RocksDB makes 2 MiB of 0 where reads are direct
_READAHEAD_LIMIT = f'`{_READAHEAD}: "{{{{ hardware.storage.max_sectors_kb * 1024 - options.block_size }}}}"`'


def _readahead(facts: Facts) -> float:
    return facts.amount(_READAHEAD, 2 * 2**20 if facts["release"] >= FOLLOWS_LIBRARY else 0)


def _large_readahead(facts: Facts) -> Verdict | None:
    if facts["release"] < _PREFETCHES or facts.is_on(_DIRECT_READS) or facts["benchmark"] in READ_ONLY:
        return None
    if not facts.has(_READAHEAD) and not facts["hardware.declared"]:
        return None  # the release's default on whatever host this is: nothing that the spec says
    limit = max(facts.amount(_LIMIT, 0) * 1024 - facts.amount("block_size", 4096), 0)
    readahead = _readahead(facts)
    if readahead <= limit:
        return None
    device = f"the device's max_sectors_kb less a block ({size(limit)})"
    message = f"a compaction readahead of {size(readahead)} is more than {device}: the kernel reads block by block"
    where = _READAHEAD if facts.has(_READAHEAD) else "build"
    return Verdict(where, message, f"{_READAHEAD_LIMIT} (rocksdb issue 12038)")


def _direct_without_readahead(facts: Facts) -> Verdict | None:
    if not facts.is_on(_DIRECT_READS) or facts["benchmark"] in READ_ONLY or _readahead(facts) > 0:
        return None
    if _RAISED[0] <= facts["release"] < _RAISED[1]:
        return None
    where = _READAHEAD if facts.has(_READAHEAD) else _DIRECT_READS
    message = "direct reads with a compaction readahead of 0: compaction reads block by block, the kernel does not help"
    return Verdict(where, message, f"`{_READAHEAD}: 2MiB`, which RocksDB itself made of 0 before 8.6.1")


def _default_readahead(facts: Facts) -> Verdict | None:
    if facts.has(_READAHEAD) or facts["benchmark"] in READ_ONLY:
        return None
    if not _RAISED[1] <= facts["release"] < FOLLOWS_LIBRARY:
        return None
    message = "db_bench 8.6 sets a compaction readahead of 0 where RocksDB 8.6 itself has 2 MiB"
    return Verdict("build", message, f"say it: `{_READAHEAD}: 2MiB`")


# Block cache: its kind and its shards

HYPER_CLOCK_DEFAULT: Release = (10, 9)

_CACHE_SINCE = {"hyper_clock_cache": (7, 7), "auto_hyper_clock_cache": (8, 6), "fixed_hyper_clock_cache": (8, 6)}
_CACHE_UNTIL = {"clock_cache": (7, 7), "fast_lru_cache": (7, 9)}
_CACHE_OPTION_SINCE = (7, 4)
_PLACEHOLDER = (8, 6)
# the smallest shard that RocksDB makes when it chooses their number itself (GetDefaultCacheShardBits)
_LRU_SHARDS = {"lru_cache": 512 * 2**10, "fast_lru_cache": 512 * 2**10}
_CLOCK_SHARDS = 32 * 2**20
_MOST_SHARD_BITS = 20  # RocksDB takes fewer


def _missing_cache_type(facts: Facts) -> Verdict | None:
    if facts["kind"] != "db_bench":
        return None
    kind, version = str(facts["cache_type"]), facts["release"]
    if version < _CACHE_OPTION_SINCE:
        if facts["cache_type.unsupported"] != "error":
            return None  # dropped, or the cell is recorded as unsupported
        message = f"RocksDB {release(version)} has no option cache_type: it came with 7.4"
    elif version < _CACHE_SINCE.get(kind, version):
        message = f"RocksDB {release(version)} has no {kind}: it came with {release(_CACHE_SINCE[kind])}"
    elif version >= _CACHE_UNTIL.get(kind, (*version, 0)):
        message = f"RocksDB {release(version)} has no {kind}: it went with {release(_CACHE_UNTIL[kind])}"
        return Verdict("cache_type", message)
    else:
        return None
    hint = f"`cache_type: [{{when: \"has('{kind if kind in _CACHE_SINCE else 'cache_type'}')\", value: {kind}}}]`"
    return Verdict("cache_type", message, hint)


def _placeholder_cache(facts: Facts) -> Verdict | None:
    if facts["release"][:2] != _PLACEHOLDER or facts["cache_type"] != "auto_hyper_clock_cache":
        return None
    message = "in RocksDB 8.6 auto_hyper_clock_cache is a placeholder: a table of fixed size, for entries of 450 bytes"
    hint = "fixed_hyper_clock_cache, whose entries count with block_size; the automatic one came with 8.7"
    return Verdict("cache_type", message, hint)


def _tiny_shards(facts: Facts) -> Verdict | None:
    bits, capacity = min(facts.amount("cache_numshardbits", -1), _MOST_SHARD_BITS), facts.amount("cache_size", 0)
    if facts["kind"] != "db_bench" or bits <= 0 or capacity <= 0:
        return None
    default = "hyper_clock_cache" if (facts["release"] or ()) >= HYPER_CLOCK_DEFAULT else "lru_cache"
    kind = str(facts["cache_type"] or default)
    shard, smallest = capacity / 2**bits, _LRU_SHARDS.get(kind, _CLOCK_SHARDS)
    if shard >= smallest:
        return None
    message = f"{2**bits:.0f} shards of {size(shard)} each: RocksDB itself makes none of {kind} below {size(smallest)}"
    return Verdict("cache_numshardbits", message, "leave it out (-1), or fewer bits")


RULES = (
    Rule("benchmark-lacking", "a benchmark that the release does not have",
         each_step(("kind", "step"), _missing_benchmark, ("step.benchmarks", "release")), "error"),
    Rule("no-series", "a steady state without rates to find it in",
         each_step(("kind", "step", "benchmark", _INTERVAL), _without_series,
                   ("until", "step.duration", "step.benchmarks")), "error"),
    Rule("writer-unlimited", "a background writer without a rate",
         each_step(("step", "measured", "step.write_rate"), _unlimited_writer, ("benchmark",))),
    Rule("range-without-nexts", "a range step that only seeks",
         each_step(("step", "seek_nexts"), _seeks_alone, ("benchmark",))),
    Rule("mixgraph-threads", "mixgraph with more than one thread",
         each_step(("step", "step.threads"), _mix_threads, ("benchmark",))),
    Rule("mixgraph-scan-length", "mixgraph whose scans have a length of zero",
         each_step(("step", "mix_seek_ratio", *_SCAN), _scan_length, ("benchmark", "release"))),
    Rule("mixgraph-sine", "a sine rate that is not switched on",
         each_step((*_SINE, "sine_mix_rate"), _idle_sine, ("benchmark", "release"))),
    Rule("mixgraph-sine-unasked", "a sine rate that an old release always has",
         each_step(("step", "step.duration", "sine_mix_rate", _SINE_INTERVAL), _unasked_sine,
                   ("benchmark", "release"))),
    Rule("mixgraph-key-ranges", "a distribution over key ranges with one range",
         each_step((*_KEY_RANGES, *_KEYS, "keyrange_num"), _single_key_range, ("benchmark", "release"))),
    Rule("l0-larger-than-l1", "L0 grows larger than L1's target before it is compacted",
         each_step((*_SIZES, _MERGE, "compaction_style"), _large_level0, ("kind",))),
    Rule("l0-triggers-order", "L0 triggers that do not rise", each_step(_TRIGGERS, _trigger_order, ("kind",))),
    Rule("universal-wait-hangs", "waiting for universal compaction that may never look finished",
         each_step(("step", "compaction_style"), _universal_wait, ("step.benchmarks", "release"))),
    Rule("readahead-over-max-sectors", "a compaction readahead that the device's queue cuts into blocks",
         each_step((_READAHEAD, _DIRECT_READS, "block_size", "benchmark", "hardware.declared"), _large_readahead,
                   ("release", _LIMIT))),
    Rule("direct-readahead-zero", "direct reads without a compaction readahead",
         each_step((_READAHEAD, "benchmark"), _direct_without_readahead, (_DIRECT_READS, "release"))),
    Rule("readahead-default-zero", "db_bench 8.6's own default of no compaction readahead",
         each_step((_READAHEAD, "benchmark"), _default_readahead, ("release",))),
    Rule("cache-type-lacking", "a cache type that the release does not have",
         each_step(("kind", "cache_type.unsupported"), _missing_cache_type, ("cache_type", "release"))),
    Rule("cache-shards-tiny", "so many cache shards that each is tiny",
         each_step(("kind", "cache_type", "release"), _tiny_shards, ("cache_size", "cache_numshardbits"))),
    Rule("cache-type-placeholder", "the automatic cache of a release that does not have it yet",
         each_step((), _placeholder_cache, ("cache_type", "release"))),
    Rule("vector-memtable-concurrent", "a memtable for one writer, with concurrent writes",
         each_step((_CONCURRENT,), _concurrent_memtable, (_REPRESENTATION, "release")), "error"),
    Rule("vector-memtable-reads", "a vector memtable outside of a load",
         each_step(("step",), _vector_reads, (_REPRESENTATION, "benchmark"))),
    Rule("vector-memtable-speedb", "a vector memtable, which Speedb does not have",
         each_step(("step",), _vector_of_speedb, (_REPRESENTATION, "speedb"))),
    Rule("direct-bytes-per-sync", "bytes_per_sync with direct IO",
         each_step((_DIRECT_WRITES,), _synced_direct_writes, ("bytes_per_sync",))),
    Rule("direct-io-half", "direct reads with buffered writes, or the other way round",
         each_step((_DIRECT_READS, _DIRECT_WRITES), _half_direct)),
    Rule("mmap-direct", "memory-mapped and direct IO together",
         each_step(("mmap_read", "mmap_write", _DIRECT_READS, _DIRECT_WRITES), _mapped_direct), "error"),
    Rule("read-only-step", "a measured step that only reads from an LSM",
         each_step(("step", "measured"), _reads_alone, ("benchmark",))),
    Rule("load-capped", "a load that `writes` caps",
         each_step(("step", "step.keys", "step.threads"), _capped_load, ("benchmark", "step.writes"))),
    Rule("load-cut", "a load that ends by the clock",
         each_step(("step", "step.fresh"), _cut_load, ("benchmark", "step.duration"))),
    Rule("load-slowed", "a load under a write rate",
         each_step(("step",), _slowed_load, ("benchmark", "step.write_rate"))),
    Rule("load-multiplied", "a load by several threads, each of which writes all keys",
         each_step(("step", "step.keys", "step.threads", "step.writes"), _multiplied_load, ("benchmark",))),
    Rule("keys-remainder", "keys that the threads do not divide",
         each_step(("step", "step.keys", "step.threads"), _keys_remainder, ("step.writes",))),
)  # fmt: skip
