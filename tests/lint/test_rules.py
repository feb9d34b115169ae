# ruff: noqa: E501
"""Each rule: specs that it finds, with the exact message, and specs just beside them that it lets pass."""

import pytest

from compiler.lint.registry import RULES

MACHINE = "hardware: {cores: 40, memory: 128GiB, storage: {max_sectors_kb: 1024}}\n"
SMT = "hardware: {cores: 40, memory: 128GiB, smt: true}\n"
DRAINED = "  - {name: load, kind: db_bench, benchmarks: [fillseq, waitforcompaction], fresh: true, duration: null, writes: null, write_rate: null, threads: 1}\n"
OLD = DRAINED.replace(", waitforcompaction", "")  # a release that cannot wait
UNIVERSAL = "{name: wait, kind: db_bench, benchmarks: [waitforcompaction], measured: false, duration: null}"


def spec(*steps, options="", version="9.10.0", params="", rest="", load=DRAINED):
    builds = f"builds: {{b: {{engine: rocksdb, versions: [{version}], source: {{system: db_bench}}}}}}\n"
    listed = "".join(f"  - {step}\n" for step in steps)
    given = f"params: {{keys: 1M, duration: 10m{', ' if params else ''}{params}}}\n"
    said = f"options: [{{{options}}}]\n" if options else ""
    return f"title: t\n{builds}steps:\n{load}{listed}{given}{said}{rest}"


def step(benchmark, name="s", more=""):
    return f"{{name: {name}, kind: db_bench, benchmarks: [{benchmark}]{', ' if more else ''}{more}}}"


OVERWRITE, WHILE = step("overwrite"), step("readwhilewriting", more="write_rate: 2MiB")
MIX = step("mixgraph")
MYROCKS = """\
title: t
builds: {m: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}
steps: [{name: s, kind: sysbench, lua: point_query, duration: 10m}]
params: {rows: 1M, storage_engine: rocksdb}
options: [{rocksdb_compaction_sequential_deletes: %s, rocksdb_compaction_sequential_deletes_window: %s}]
"""
SIZES = "key_size: 20, value_size: 400"
DATA = "sweep: {data: {%s: {params: {keys: %s}}, other: {params: {keys: 9B}}}}\n"
GRID = "sweep: {bits: {option: bloom_bits, values: [8, 10]}}\n"
HOLED = (
    'sweep: {threads: [1, 2], bits: {option: bloom_bits, values: [8, 10]}}\nexclude: ["bits == 10 and threads == 1"]\n'
)
BUILDS = "title: t\nbuilds:\n  a: {engine: rocksdb, version: 9.9.3, source: {%s}}\n  b: {engine: rocksdb, version: 9.10.0, source: {%s}}\n"
TWO = f"steps:\n{DRAINED}  - {WHILE}\nparams: {{keys: 1M, duration: 10m}}\n"
SOURCE = "title: t\nbuilds: {b: {engine: rocksdb, version: 9.9.3, source: {%s}}}\n" + TWO
CHAIN = [step("overwrite", "first", "duration: 1h"), step("readwhilewriting", "second", "write_rate: 1MiB")]
LATE = "sweep: {bits: {option: cache_size, values: [1GiB, 2GiB, 4GiB], %s}}\n"

FIRES = {
    "benchmark-lacking": [
        (spec(step("multiscan"), version="10.4.2"), "step `s` asks for multiscan: RocksDB 10.4.2 has none, it came with 10.5"),
        (spec(step("flush", more="measured: false"), version="6.11.4", load=""), "step `s` asks for flush: RocksDB 6.11.4 has none, it came with 6.19"),
    ],
    "mixgraph-threads": [
        (spec(step("mixgraph", more="threads: 4")), "step `s` runs mixgraph with 4 threads: together they are not the mix asked for"),
    ],
    "mixgraph-scan-length": [
        (spec(MIX, options="mix_seek_ratio: 0.03", version="7.0.4"), "mixgraph without iter_k and iter_sigma: before RocksDB 7.1 its scans then have a length of zero"),
        (spec(MIX, options="mix_seek_ratio: 0.03, iter_k: 2.5", version="6.29.5"), "mixgraph without iter_sigma: before RocksDB 7.1 its scans then have a length of zero"),
    ],
    "mixgraph-sine": [
        (spec(MIX, options="sine_a: 1000, sine_mix_rate: false"), "`sine_a` does nothing: sine_mix_rate is off"),
    ],
    "mixgraph-sine-unasked": [
        (spec(MIX, version="6.25.3"), "before RocksDB 6.26 mixgraph is held to its sine unasked, after 10 s"),
        (spec(MIX, options="sine_mix_rate_interval_milliseconds: 5000", version="6.25.3"), "before RocksDB 6.26 mixgraph is held to its sine unasked, after 5 s"),
    ],
    "mixgraph-key-ranges": [
        (spec(MIX, options="keyrange_dist_a: 14, keyrange_num: 1"), "`keyrange_dist_a` spreads the keys over one range: keyrange_num is 1"),
        (spec(MIX, options="keyrange_dist_a: 14, keyrange_num: 30, key_dist_a: 0.1", version="6.11.4"), "`keyrange_dist_a` does nothing: without key_dist_b mixgraph takes keys evenly from all"),
        (spec(MIX, options="keyrange_dist_a: 14, keyrange_num: 30, key_dist_a: 0, key_dist_b: 0"), "`keyrange_dist_a` does nothing: without key_dist_a and key_dist_b mixgraph takes keys evenly from all"),
    ],
    "l0-larger-than-l1": [
        (spec(OVERWRITE, options="write_buffer_size: 65MiB"), "L0 holds 4 x 65 MiB = 260 MiB when its compaction starts, more than L1's target of 256 MiB"),
        (spec(OVERWRITE, options="max_bytes_for_level_base: 64MiB"), "L0 holds 4 x 64 MiB = 256 MiB when its compaction starts, more than L1's target of 64 MiB"),
    ],
    "l0-triggers-order": [
        (spec(OVERWRITE, options="level0_file_num_compaction_trigger: 30, max_bytes_for_level_base: 4GiB"), "the L0 triggers for compaction, slowdown and stop are 30, 20, 36: RocksDB changes them so that they rise"),
    ],
    "universal-wait-hangs": [
        (spec(UNIVERSAL, options="compaction_style: 1", version="8.6.7", load=""), "step `wait` may hang: waitforcompaction under universal compaction before RocksDB 8.7"),
    ],
    "readahead-over-max-sectors": [
        (spec(OVERWRITE, version="8.7.3", options="compaction_readahead_size: 1025KiB", rest=MACHINE), "a compaction readahead of 1.001 MiB is more than the device's max_sectors_kb less a block (1020 KiB): the kernel reads block by block"),
        (spec(OVERWRITE, version="9.9.3", options="compaction_readahead_size: 1MiB, block_size: 8KiB", rest=MACHINE), "a compaction readahead of 1 MiB is more than the device's max_sectors_kb less a block (1016 KiB): the kernel reads block by block"),
        (spec(OVERWRITE, version="8.5.4", options="compaction_readahead_size: 1MiB", rest=MACHINE), "a compaction readahead of 1 MiB is more than the device's max_sectors_kb less a block (1020 KiB): the kernel reads block by block"),
        (spec(OVERWRITE, version="8.7.3", rest=MACHINE), "a compaction readahead of 2 MiB is more than the device's max_sectors_kb less a block (1020 KiB): the kernel reads block by block"),
    ],
    "direct-readahead-zero": [
        (spec(OVERWRITE, version="8.6.7", options="use_direct_reads: true"), "direct reads with a compaction readahead of 0: compaction reads block by block, the kernel does not help"),
        (spec(OVERWRITE, options="use_direct_reads: 1, compaction_readahead_size: 0"), "direct reads with a compaction readahead of 0: compaction reads block by block, the kernel does not help"),
    ],
    "readahead-default-zero": [
        (spec(OVERWRITE, version="8.6.7"), "db_bench 8.6 sets a compaction readahead of 0 where RocksDB 8.6 itself has 2 MiB"),
    ],
    "cache-type-lacking": [
        (spec(OVERWRITE, version="7.3.1", options="cache_type: lru_cache"), "RocksDB 7.3.1 has no option cache_type: it came with 7.4"),
        (spec(OVERWRITE, version="8.5.4", options="cache_type: auto_hyper_clock_cache"), "RocksDB 8.5.4 has no auto_hyper_clock_cache: it came with 8.6"),
        (spec(OVERWRITE, version="7.9.2", options="cache_type: fast_lru_cache"), "RocksDB 7.9.2 has no fast_lru_cache: it went with 7.9"),
    ],
    "cache-type-placeholder": [
        (spec(OVERWRITE, version="8.6.7", options="cache_type: auto_hyper_clock_cache"), "in RocksDB 8.6 auto_hyper_clock_cache is a placeholder: a table of fixed size, for entries of 450 bytes"),
    ],
    "cache-shards-tiny": [
        (spec(OVERWRITE, options="cache_size: 16MiB, cache_numshardbits: 6"), "64 shards of 256 KiB each: RocksDB itself makes none of lru_cache below 512 KiB"),
        (spec(OVERWRITE, options="cache_size: 1GiB, cache_numshardbits: 6", version="10.9.1"), "64 shards of 16 MiB each: RocksDB itself makes none of hyper_clock_cache below 32 MiB"),
    ],
    "cache-over-memory": [
        (spec(OVERWRITE, options="cache_size: 129GiB", rest=MACHINE), "`cache_size` is 129 GiB, the machine has 128 GiB"),
    ],
    "vector-memtable-concurrent": [
        (spec(OVERWRITE, options="memtablerep: vector", version="10.2.1"), "RocksDB does not open a database with `memtablerep: vector` and concurrent memtable writes"),
        (spec(OVERWRITE, options="memtablerep: hash_linkedlist", version="11.8.1"), "RocksDB does not open a database with `memtablerep: hash_linkedlist` and concurrent memtable writes"),
        (spec(OVERWRITE, options="memtablerep: prefix_hash"), "RocksDB does not open a database with `memtablerep: prefix_hash` and concurrent memtable writes"),
    ],
    "vector-memtable-reads": [
        (spec(OVERWRITE, options="memtablerep: vector, allow_concurrent_memtable_write: false"), "step `s` has a vector memtable, which is for bulk loads: each read in it sorts or scans it"),
    ],
    "direct-bytes-per-sync": [
        (spec(OVERWRITE, options="use_direct_io_for_flush_and_compaction: true, use_direct_reads: true, bytes_per_sync: 1MiB"), "`bytes_per_sync` is 1 MiB with direct writes, which leave nothing in the page cache to sync"),
    ],
    "direct-io-half": [
        (spec(OVERWRITE, options="use_direct_io_for_flush_and_compaction: true"), "`use_direct_io_for_flush_and_compaction` without `use_direct_reads`: the same files go through the page cache and past it"),
    ],
    "mmap-direct": [
        (spec(OVERWRITE, options="mmap_write: true, use_direct_reads: true, use_direct_io_for_flush_and_compaction: true"), "RocksDB refuses `mmap_write` together with `use_direct_io_for_flush_and_compaction`"),
    ],
    "sequential-deletes": [
        (MYROCKS % (8192, 8192), "8,192 sequential deletes in a window of 8,192 keys: the number must be below the window"),
        (MYROCKS % (100, 0), "`rocksdb_compaction_sequential_deletes` does nothing: its window is 0"),
    ],
    "read-only-step": [
        (spec(step("multireadrandom")), "step `s` only reads: the shape that the tree happens to have decides the result"),
    ],
    "load-not-drained": [
        (spec(WHILE, load=DRAINED.replace(", waitforcompaction", "")), "step `s` begins while the load's compaction may still run: no step waits for it"),
    ],
    "load-capped": [
        (spec(step("fillseq", more="fresh: true, writes: 999999"), load=""), "step `s` loads 999,999 of 1,000,000 keys: `writes` caps a load too"),
    ],
    "load-cut": [
        (spec(step("fillrandom", more="fresh: true"), load=""), "step `s` stops after 600 s, however many keys it has loaded by then"),
    ],
    "load-slowed": [
        (spec(step("fillseq", more="fresh: true, write_rate: 2MiB"), load=""), "step `s` is held to 2 MiB a second: a write rate is obeyed by a load too"),
    ],
    "load-multiplied": [
        (spec(step("fillseq", more="fresh: true, threads: 4"), load=""), "step `s` writes 4,000,000 rows: each of 4 threads loads all keys"),
    ],
    "keys-remainder": [
        (spec(step("overwrite", more='threads: 3, writes: "{{ params.keys // 3 }}"')), "step `s` writes 1 rows too few: 1,000,000 keys do not divide by 3"),
    ],
    "cached-does-not-fit": [
        (spec(WHILE, options=f"{SIZES}, cache_size: 1GiB", rest=DATA % ("byrx", "100M")), "`byrx` is called cached, but 39.12 GiB of data, a block cache of 1 GiB: it does not fit (in 1 of 2 cells: b-9.10.0, byrx)"),
        (spec(WHILE, options=f"{SIZES}, cache_size: 1GiB, compression_type: none", rest=MACHINE + DATA % ("byos", "1B")), "`byos` is called cached, but 391.2 GiB of files, 128 GiB of memory: they do not fit (in 1 of 2 cells: b-9.10.0, byos)"),
    ],
    "io-bound-fits": [
        (spec(WHILE, options=f"{SIZES}, cache_size: 90GiB", rest=MACHINE + DATA % ("iodir", "100M")), "`iodir` is called IO-bound, but 39.12 GiB of data fit in the block cache of 90 GiB (in 1 of 2 cells: b-9.10.0, iodir)"),
        (spec(WHILE, options=f"{SIZES}, cache_size: 1GiB", rest=MACHINE + DATA % ("io-bound", "100M")), "`io-bound` is called IO-bound, but 20.49 GiB of files fit in the 128 GiB of memory (in 1 of 2 cells: b-9.10.0, io-bound)"),
    ],
    "clients-over-cores": [
        (spec(step("overwrite", more="threads: 41"), rest=MACHINE), "step `s` has 41 clients, the machine runs 40 threads at once"),
    ],
    "writer-unlimited": [
        (spec(step("seekrandomwhilemerging")), "step `s` has a background writer without a rate: how fast it happens to be decides the reads"),
    ],
    "range-without-nexts": [
        (spec(step("seekrandom", "Scan10")), "step `Scan10` seeks and reads nothing after it: seek_nexts is 0"),
    ],
    "step-short": [
        (spec(step("overwrite", more="duration: 59s")), "step `s` is measured for 59 s: an engine is not in a steady state by then"),
    ],
    "base-without-cell": [
        (spec(WHILE, rest=HOLED + "report: {base: {bits: 10, threads: 1}}\n"), "no cell is at the base, bits 10, threads 1: nothing can be compared with it"),
    ],
    "mixed-quality": [
        (BUILDS % ("debian: rocksdb-tools, suite: bookworm", "debian: rocksdb-tools, suite: trixie") + TWO, "builds of different quality are compared: a: debian bookworm; b: debian trixie"),
    ],
    "defaults-differ": [
        (spec(WHILE, version="8.6.7, 8.7.3"), "`compaction_readahead_size` is left to the builds: 0 in b-8.6.7, 2 MiB in b-8.7.3"),
        (spec(WHILE, version="7.6.0, 7.7.8"), "`cache_numshardbits` is left to the builds: 6 in b-7.6.0, -1 in b-7.7.8"),
        (spec(WHILE, version="10.8.3, 10.9.1"), "`cache_type` is left to the builds: lru_cache in b-10.8.3, hyper_clock_cache in b-10.9.1"),
    ],
    "ref-open": [
        (SOURCE % "git: 'https://example.org/r.git', ref: 9.9.fb", "`9.9.fb` names no release, so it may be a branch, and nothing says its commit"),
        (SOURCE % "git: 'https://example.org/r.git', ref: main~2", "`main~2` names no release, so it may be a branch, and nothing says its commit"),
        (SOURCE % "maven: 'org.rocksdb:rocksdbjni', tree: {git: 'https://example.org/r.git', ref: '10.11'}", "`10.11` names no release, so it may be a branch, and nothing says its commit"),
    ],
    "no-repeats": [
        (spec(WHILE, rest=GRID), "2 cells are compared and each is loaded once: there can be no verdict"),
        (spec(WHILE, rest=GRID + "repeat: {loads: 1, runs: 4}\n"), "4 runs of one load are no repeats: they share its tree, so there can be no verdict"),
    ],
    "checkpoint-missing": [
        (spec(*CHAIN, rest=LATE % "steps: [second]"), "a checkpoint after step `first` would save 2.0 hours: cells repeat what leads to it"),
        (spec(*CHAIN, rest=LATE % "steps: [second]" + "repeat: 3\n"), "a checkpoint after step `first` would save 6.0 hours: cells repeat what leads to it"),
    ],
}  # fmt: skip

QUIET = {
    "benchmark-lacking": [
        spec(step("multiscan"), version="10.5.1"),
        spec(step("readwhilewriting, {when: \"has('waitforcompaction')\", value: waitforcompaction}"), version="6.11.4", load=OLD),
    ],
    "mixgraph-threads": [spec(MIX), spec(step("overwrite", more="threads: 4"))],
    "mixgraph-scan-length": [
        spec(MIX, options="mix_seek_ratio: 0.03", version="7.1.1"),
        spec(MIX, options="mix_seek_ratio: 0", version="6.29.5"),
        spec(OVERWRITE, options="mix_seek_ratio: 0.03", version="6.29.5"),
    ],
    "mixgraph-sine": [
        spec(MIX, options="sine_a: 1000, sine_mix_rate: true"),
        spec(MIX, options="sine_a: 1000", version="6.25.3"),
        spec(MIX),
    ],
    "mixgraph-sine-unasked": [
        spec(MIX, version="6.26.1"),
        spec(MIX, options="sine_mix_rate_interval_milliseconds: 1000000000", version="6.25.3"),
        spec(MIX, options="sine_a: 1000, sine_d: 4500, sine_mix_rate: true", version="6.25.3"),
        spec(OVERWRITE, version="6.25.3"),
    ],
    "mixgraph-key-ranges": [
        spec(MIX, options="keyrange_dist_a: 14, keyrange_num: 30, key_dist_a: 0.1, key_dist_b: 0.1"),
        spec(MIX, options="keyrange_dist_a: 14, keyrange_num: 30", version="6.10.2", load=OLD),
        spec(MIX),
    ],
    "l0-larger-than-l1": [
        spec(OVERWRITE, options="write_buffer_size: 64MiB"),
        spec(OVERWRITE, options="write_buffer_size: 65MiB, compaction_style: 1"),
        spec(OVERWRITE),
    ],
    "l0-triggers-order": [
        spec(OVERWRITE, options="level0_slowdown_writes_trigger: 20, level0_stop_writes_trigger: 20"),
        spec(OVERWRITE),
    ],
    "universal-wait-hangs": [
        spec(UNIVERSAL, options="compaction_style: 1", version="8.7.3"),
        spec(UNIVERSAL, options="compaction_style: 0", version="8.5.4"),
    ],
    "readahead-over-max-sectors": [
        spec(OVERWRITE, version="8.7.3", options="compaction_readahead_size: 1020KiB", rest=MACHINE),
        spec(OVERWRITE, version="8.4.4", options="compaction_readahead_size: 2MiB", rest=MACHINE),
        spec(OVERWRITE, version="8.5.4", rest=MACHINE),
        spec(OVERWRITE, version="8.7.3", options="compaction_readahead_size: 2MiB, use_direct_reads: true", rest=MACHINE),
        spec(OVERWRITE, version="9.9.3", options="compaction_readahead_size: 1016KiB, block_size: 8KiB", rest=MACHINE),
        spec(OVERWRITE, version="9.9.3"),  # a default, on a host that the spec does not describe
    ],
    "direct-readahead-zero": [
        spec(OVERWRITE, version="8.7.3", options="use_direct_reads: true"),
        spec(OVERWRITE, version="8.6.7", options="use_direct_reads: false"),
        spec(OVERWRITE, version="8.5.4", options="use_direct_reads: true"),
        spec(OVERWRITE, version="6.29.5", options="use_direct_reads: true, compaction_readahead_size: 0"),
    ],
    "readahead-default-zero": [
        spec(OVERWRITE, version="8.5.4"),
        spec(OVERWRITE, version="8.6.0"),
        spec(OVERWRITE, version="8.7.3"),
        spec(OVERWRITE, version="8.6.7", options="compaction_readahead_size: 0"),
    ],
    "cache-type-lacking": [
        spec(OVERWRITE, version="7.4.0", options="cache_type: lru_cache"),
        spec(OVERWRITE, version="7.3.1", options="cache_type: {value: lru_cache, when_unsupported: drop}"),
        spec(OVERWRITE, version="8.6.7", options="cache_type: auto_hyper_clock_cache"),
        spec(OVERWRITE, version="7.8.3", options="cache_type: fast_lru_cache"),
    ],
    "cache-type-placeholder": [
        spec(OVERWRITE, version="8.7.3", options="cache_type: auto_hyper_clock_cache"),
        spec(OVERWRITE, version="8.6.7", options="cache_type: hyper_clock_cache"),
    ],
    "cache-shards-tiny": [
        spec(OVERWRITE, options="cache_size: 32MiB, cache_numshardbits: 6"),
        spec(OVERWRITE, options="cache_size: 16MiB, cache_numshardbits: -1"),
        spec(OVERWRITE, options="cache_size: 90GiB, cache_numshardbits: 6, cache_type: auto_hyper_clock_cache"),
    ],
    "cache-over-memory": [
        spec(OVERWRITE, options="cache_size: 90GiB", rest=MACHINE),
        spec(OVERWRITE, options="cache_size: 90GiB", rest="hardware: {cores: 8}\n"),
    ],
    "vector-memtable-concurrent": [
        spec(OVERWRITE, options="memtablerep: vector, allow_concurrent_memtable_write: false"),
        spec(OVERWRITE, options="memtablerep: vector", version="10.4.2"),
        spec(OVERWRITE, options="memtablerep: vector", version="5.6.2", load=OLD),
        spec(OVERWRITE, options="memtablerep: skip_list"),
    ],
    "vector-memtable-reads": [
        spec(options="memtablerep: vector, allow_concurrent_memtable_write: false"),
        spec(OVERWRITE, options="memtablerep: skip_list"),
    ],
    "direct-bytes-per-sync": [spec(OVERWRITE, options="bytes_per_sync: 1MiB")],
    "direct-io-half": [
        spec(OVERWRITE, options="use_direct_reads: true, use_direct_io_for_flush_and_compaction: true"),
        spec(OVERWRITE),
    ],
    "mmap-direct": [spec(OVERWRITE, options="mmap_read: true, use_direct_reads: false")],
    "sequential-deletes": [MYROCKS % (8191, 8192), MYROCKS % (0, 0)],
    "read-only-step": [spec(WHILE), spec(step("readrandom", more="measured: false"))],
    "load-not-drained": [
        spec(WHILE),
        spec(WHILE, load=""),
        spec(step("flush", "drain", "measured: false"), WHILE, load=DRAINED.replace(", waitforcompaction", "")),
    ],
    "load-capped": [spec(), spec(step("overwrite", more="writes: 10"))],
    "load-cut": [spec(step("fillseq", more="fresh: true"), load=""), spec(step("fillrandom"), load="")],
    "load-slowed": [spec(WHILE)],
    "load-multiplied": [spec(), spec(step("overwrite", more="threads: 4"))],
    "keys-remainder": [
        spec(step("overwrite", more='threads: 4, writes: "{{ params.keys // 4 }}"')),
        spec(step("overwrite", more='threads: 3, writes: "{{ params.keys // 3 // 10 }}"')),
    ],
    "cached-does-not-fit": [
        spec(WHILE, options=f"{SIZES}, cache_size: 40GiB", rest=DATA % ("byrx", "100M")),
        spec(WHILE, options=f"{SIZES}, cache_size: 1GiB", rest=DATA % ("large", "100M")),
        spec(WHILE, options=SIZES, rest=DATA % ("byrx", "100M")),
    ],
    "io-bound-fits": [
        spec(WHILE, options=f"{SIZES}, cache_size: 90GiB", rest=MACHINE + DATA % ("iobuf", "2B")),
        spec(WHILE, options=f"{SIZES}, cache_size: 1GiB, use_direct_reads: true", rest=MACHINE + DATA % ("iodir", "100M")),
    ],
    "clients-over-cores": [
        spec(step("overwrite", more="threads: 40"), rest=MACHINE),
        spec(step("overwrite", more="threads: 80"), rest=SMT),
    ],
    "writer-unlimited": [spec(WHILE), spec(OVERWRITE)],
    "range-without-nexts": [
        spec(step("seekrandom", "range", "options: {seek_nexts: 10}")),
        spec(step("seekrandom", "seeks")),
    ],
    "step-short": [spec(step("overwrite", more="duration: 1m")), spec(step("overwrite", more="duration: 1s, measured: false"))],
    "base-without-cell": [
        spec(WHILE, rest=GRID + "report: {base: {bits: 8}}\n"),
        spec(WHILE, rest=GRID),
    ],
    "mixed-quality": [
        BUILDS % ("system: one", "system: other") + TWO,
        (BUILDS % ("debian: rocksdb-tools, suite: bookworm", "debian: rocksdb-tools, suite: trixie") + TWO + GRID
         + "report: {base: {bits: 8}}\n"),
    ],
    "defaults-differ": [
        spec(WHILE, version="8.7.3, 9.10.0"),
        spec(WHILE, version="8.6.7, 8.7.3", options="compaction_readahead_size: 1MiB"),
        spec(WHILE, version="8.6.7, 8.7.3", rest=GRID + "report: {base: {bits: 8}}\n"),
    ],
    "ref-open": [
        *(SOURCE % f"git: 'https://example.org/r.git', ref: '{ref}'" for ref in ("v9.9.3", "speedb/v2.8.0", "REL_15_1", "d347cdb^", "refs/tags/x")),
        SOURCE % f"git: 'https://example.org/r.git', ref: {'5ec0ffee' * 5}",
        SOURCE % "maven: 'org.rocksdb:rocksdbjni'",
        SOURCE % "path: main",
    ],
    "no-repeats": [spec(WHILE), spec(WHILE, rest=GRID + "repeat: 2\n")],
    "checkpoint-missing": [
        spec(CHAIN[0], "checkpoint: loaded", CHAIN[1], rest=LATE % "from: loaded"),
        spec(*[one.replace("1h", "10m") for one in CHAIN], rest=LATE % "steps: [second]"),
        spec(*CHAIN, rest=LATE % "steps: [first, second]"),
    ],
}  # fmt: skip


def test_every_rule_is_here():
    assert sorted(FIRES) == sorted(QUIET) == sorted(rule.code for rule in RULES)


@pytest.mark.parametrize(("code", "text", "message"), [(c, *case) for c, cases in FIRES.items() for case in cases])
def test_it_fires(code, text, message, lints):
    found = lints(text).get(code)
    assert found is not None
    assert [one.replace(" (in all 2 cells)", "").replace(" (in all 3 cells)", "") for one in found] == [message]


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in QUIET.items() for text in texts])
def test_it_stays_quiet(code, text, lints):
    found = lints(text)
    assert code not in found
    assert set(found) <= {rule.code for rule in RULES}  # the spec is otherwise sound
