"""With `params: {legacy: true}` each step has the flags that the published scripts come to, slips included.

The tables say what these pass, by the last one where a flag stands twice. Not in them: paths, the seed, the list of
flags that may be unknown, and a write rate of 0, which is db_bench's own default.
"""

from pathlib import Path

import pytest

from stepgrid.model.plan import Plan, PlannedStep
from stepgrid.plan.assembly import compile_spec
from stepgrid.plugins.driver import Context
from stepgrid.plugins.registry import require_runner

LIBRARY = Path(__file__).resolve().parents[2] / "specs" / "library"
HOST = {"cpu": "a", "cores": 48, "memory": 2**37, "storage": {"filesystem": "ext4", "max_sectors_kb": 128}}
ALL = "fillseq, revrange, drain, readrandom, fwdrange, multireadrandom, overwritesome, flush, settle, revrangeww, fwdrangeww, readww"  # fmt: skip  # noqa: E501
OURS = {"db", "seed", "report_file"}

BASE = """
key_size 20, value_size 400, block_size 8192, cache_size 96636764160, cache_numshardbits 6, cache_type lru_cache,
compression_max_dict_bytes 0, compression_ratio 0.5, bytes_per_sync 1048576, write_buffer_size 16777216,
target_file_size_base 16777216, max_bytes_for_level_base 67108864, verify_checksum 1,
delete_obsolete_files_period_micros 62914560, max_bytes_for_level_multiplier 8, statistics 0, stats_per_interval 1,
stats_interval_seconds 20, report_interval_seconds 1, histogram 1, memtablerep skip_list, bloom_bits 10, open_files -1,
max_background_jobs 12, max_write_buffer_number 8
"""
LEVELED = """
compaction_style 0, num_levels 8, min_level_to_compress 3, level_compaction_dynamic_level_bytes 1, subcompactions 1,
pin_l0_filter_and_index_blocks_in_cache 1, cache_index_and_filter_blocks 1, cache_high_pri_pool_ratio 0.5,
cache_low_pri_pool_ratio 0, partition_index_and_filters 0, pin_top_level_index_and_filter 0, metadata_block_size 16384,
level0_file_num_compaction_trigger 4, level0_slowdown_writes_trigger 20, level0_stop_writes_trigger 30
"""
UNIVERSAL = """
compaction_style 1, num_levels 40, universal_compression_size_percent -1, universal_min_merge_width 2,
universal_max_merge_width 20, universal_size_ratio 10, universal_max_size_amplification_percent 50,
universal_allow_trivial_move 1, subcompactions 4, pin_l0_filter_and_index_blocks_in_cache 0,
partition_index_and_filters 1, pin_top_level_index_and_filter 1, metadata_block_size 65536,
level0_file_num_compaction_trigger 16, level0_slowdown_writes_trigger 200, level0_stop_writes_trigger 200
"""
BLOB = """
enable_blob_files 1, min_blob_size 0, blob_file_size 268435456, blob_compression_type none,
enable_blob_garbage_collection 1, blob_garbage_collection_age_cutoff 0.25, blob_garbage_collection_force_threshold 1,
blob_file_starting_level 0, use_blob_cache 1, use_shared_block_and_blob_cache 1, blob_cache_size 17179869184,
blob_cache_numshardbits 6, prepopulate_blob_cache 0
"""
DIRECT = "bytes_per_sync 0, use_direct_reads 1, use_direct_io_for_flush_and_compaction 1, prepopulate_block_cache 1"
LOAD = "threads 1, use_existing_db 0, sync 0, memtablerep vector, allow_concurrent_memtable_write 0, disable_wal 1"
CLIENTS, OLD = "threads 40", "use_existing_db 1"
WRITER = "sync 0, merge_operator put, benchmark_write_rate_limit 2097152, duration 1800"
WAITING = "overwrite,flush,levelstats,waitforcompaction,stats"

Flags = dict[str, str]


def flags(*texts: str, **more: object) -> Flags:
    pairs = (item.split() for text in texts for item in text.replace("\n", " ").split(", "))
    return {**dict(pairs), **{name: str(value) for name, value in more.items()}}


def expected(base: Flags, keys: int, drained: str, at_the_end: str) -> dict[str, Flags]:
    """By step; what differs between the styles of compaction: what follows the overwrites."""
    old = {**base, **flags(OLD, num=keys)}
    load = {} if base["compaction_style"] == "1" else {"min_level_to_compress": "0"}
    writes, read = keys // 40 // 10, {**old, **flags(CLIENTS, duration=1800)}
    scan = flags("seek_nexts 10")
    backwards, forwards = {**scan, "reverse_iterator": "1"}, {**scan, "reverse_iterator": "0"}
    mixed = {**old, **flags(CLIENTS, WRITER)}
    return {
        "fillseq": {**base, **load, **flags(LOAD, num=keys, benchmarks="fillseq,stats")},
        "revrange": {**old, **backwards, **flags(num=100, threads=1, duration=300, benchmarks="seekrandom,stats")},
        "readrandom": {**read, "benchmarks": "readrandom,stats"},
        "fwdrange": {**read, **forwards, "benchmarks": "seekrandom,stats"},
        "multireadrandom": {
            **read,
            **flags("batch_size 10, multiread_batched 1, benchmark_write_rate_limit 2097152"),
            "benchmarks": "multireadrandom,stats",
        },
        "overwritesome": {
            **old,
            **flags(CLIENTS, "sync 0, merge_operator put", writes=writes, benchmarks="overwrite,stats"),
        },
        "flush": {**old, **flags("sync 0, threads 1", benchmarks=drained)},
        "revrangeww": {**mixed, **backwards, "benchmarks": "seekrandomwhilewriting,stats"},
        "fwdrangeww": {**mixed, **forwards, "benchmarks": "seekrandomwhilewriting,stats"},
        "readww": {**mixed, "benchmarks": "readwhilewriting,stats"},
        "overwrite": {
            **old,
            **flags(CLIENTS, "sync 0, merge_operator put", duration=1800, benchmarks=at_the_end),
        },
    }


L0 = "levelstats,flush,waitforcompaction,compact0,waitforcompaction,memstats,levelstats,stats"
WAIT, NO_WAIT = "levelstats,flush,waitforcompaction,memstats,levelstats,stats", "levelstats,flush,memstats,levelstats,stats"  # fmt: skip  # noqa: E501
BYRX, LZ4 = flags("compression_type none"), flags("compression_type lz4")
CASES = {
    "leveled byrx": ("leveled", "byrx", "100M", "9.9.3", flags(BASE, LEVELED) | BYRX, L0, WAITING),
    "leveled iobuf": ("leveled", "iobuf", "2B", "8.5.4", flags(BASE, LEVELED) | LZ4, L0, WAITING),
    "leveled iodir": ("leveled", "iodir", "2B", "9.9.3", flags(BASE, LEVELED, DIRECT) | LZ4, L0, WAITING),
    "leveled iodir_nlz": ("leveled", "iodir_nlz", "2B", "9.9.3", flags(BASE, LEVELED, DIRECT) | LZ4, L0, WAITING),
    "universal 9.9": ("universal", "byrx", "100M", "9.9.3", flags(BASE, UNIVERSAL) | BYRX, WAIT, WAITING),
    "universal 8.7": ("universal", "byrx", "100M", "8.7.3", flags(BASE, UNIVERSAL) | BYRX, NO_WAIT, WAITING),
    "universal 8.6": ("universal", "byrx", "100M", "8.6.7", flags(BASE, UNIVERSAL) | BYRX, WAIT, WAITING),
    "universal 8.5": ("universal", "byrx", "100M", "8.5.4", flags(BASE, UNIVERSAL) | BYRX, NO_WAIT, "overwrite,stats"),
    "blob 9.9": ("blob", "byrx", "100M", "9.9.3", flags(BASE, LEVELED, BLOB) | BYRX, L0, WAITING),
    "blob 8.5": ("blob", "byrx", "100M", "8.5.4", flags(BASE, LEVELED, BLOB) | BYRX, L0, "overwrite,stats"),
}
NUMBERS = {"100M": 10**8, "2B": 2 * 10**9}


def planned(folder: Path, sets: str, keys: str, version: str, legacy: bool = True) -> Plan:
    included = [str(LIBRARY / f"{name}.yaml") for name in ("hardware", "rocksdb", "db_bench")]
    lines = [
        "title: a",
        f"include: {included}",
        f"builds: {{a: {{extends: rocksdb, version: {version}}}}}",
        f"options: [{sets}]",
        "workload: db_bench.sequence",
        f"steps: [{ALL}, {{use: overwriteandwait, as: overwrite}}]",
        f"params: {{keys: {keys}, threads: 40, duration: 30m, write_rate: 2MiB, legacy: {str(legacy).lower()}}}",
    ]
    (folder / "a.yaml").write_text("\n".join(lines), encoding="utf-8")
    return compile_spec(str(folder / "a.yaml"), None, HOST)


def given(step: PlannedStep, version: str) -> Flags:
    """What the step's command line gives, booleans as 0 and 1."""
    options = {name: option.value for name, option in step.options.items()}
    context = Context({"db_bench": ("db_bench",)}, version, Path("data"), Path("step"), 1)
    argv = require_runner(step.kind).command(step.settings, options, context).argv[1:]
    pairs = (word.removeprefix("--").split("=", 1) for word in argv)
    spoken = {"true": "1", "false": "0"}
    return {name: spoken.get(value, value) for name, value in pairs if name not in OURS}


@pytest.mark.parametrize("case", CASES)
def test_every_flag_of_every_step(tmp_path: Path, case: str) -> None:
    style, data, keys, version, base, drained, at_the_end = CASES[case]
    plan = planned(tmp_path, f"{style}, scripts, c48r128, {data}", keys, version)
    found = {step.name: given(step, version) for stage in plan.stages for step in stage.steps}
    assert found == expected(base, NUMBERS[keys], drained, at_the_end)


SEQUENCE = {"revrange", "drain", "settle"}  # ours looks until there is no debt
RATE = ("multireadrandom", "benchmark_write_rate_limit")  # which no writer of it obeys
STEPS = expected(flags(BASE, UNIVERSAL), 400, "", "").keys() - SEQUENCE
BLOCKS = {(step, flag) for step in STEPS for flag in ("block_size", "universal_allow_trivial_move")}


@pytest.mark.parametrize(
    ("sets", "version", "differing"),
    [
        ("leveled, scripts, c48r128, byrx", "9.9.3", {RATE}),
        ("leveled, scripts, c48r128, byrx", "8.5.4", {RATE}),
        ("leveled, scripts, c48r128, iodir", "9.9.3", {RATE}),
        ("universal, scripts, c48r128, byrx", "9.9.3", {RATE, *BLOCKS}),
        ("universal, scripts, c48r128, byrx", "8.7.3", {RATE, *BLOCKS, ("flush", "benchmarks")}),
        (
            "universal, scripts, c48r128, byrx",
            "8.6.7",
            {RATE, *BLOCKS, ("flush", "benchmarks"), ("overwrite", "benchmarks")},
        ),
        ("universal, scripts, c48r128, byrx", "8.5.4", {RATE, *BLOCKS}),
        ("blob, scripts, c48r128, byrx", "9.9.3", {RATE}),
        ("blob, scripts, c48r128, byrx", "8.5.4", {RATE, ("overwrite", "benchmarks")}),
    ],
)
def test_where_ours_differs(tmp_path: Path, sets: str, version: str, differing: set[tuple[str, str]]) -> None:
    """Every difference, as docs/reference/db_bench.md lists them."""
    found = []
    for legacy in (True, False):
        stages = planned(tmp_path, sets, "100M", version, legacy).stages
        steps = {step.name: step for stage in stages for step in stage.steps if step.name not in SEQUENCE}
        found.append({name: given(step, version) for name, step in steps.items()})
    theirs, ours = found
    assert ours.keys() == theirs.keys() == STEPS
    pairs = {(step, flag) for both in found for step, given_flags in both.items() for flag in given_flags}
    assert {(step, flag) for step, flag in pairs if theirs[step].get(flag) != ours[step].get(flag)} == differing
    block, moves = (ours["fillseq"].get(flag) for flag in ("block_size", "universal_allow_trivial_move"))
    assert (block, moves) == (("16384", "0") if differing >= BLOCKS else ("8192", None))
