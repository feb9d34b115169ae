"""What mixgraph is run with: the five configurations, and what the published scripts make of them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from stepgrid.plan.assembly import compile_spec
from tests.specs.test_legacy_flags import HOST, LIBRARY, Flags, flags, given

SERVER = """
statistics 1, stats_interval_seconds 60, stats_per_interval 1, report_interval_seconds 1, max_background_compactions 6,
max_background_flushes 4, max_write_buffer_number 4, cache_high_pri_pool_ratio 0.5,
pin_l0_filter_and_index_blocks_in_cache 1, level0_file_num_compaction_trigger 4, level0_slowdown_writes_trigger 20,
level0_stop_writes_trigger 40, num 1000000000, disable_wal 1, block_size 4096, num_levels 8, use_direct_reads 1,
use_direct_io_for_flush_and_compaction 1, writable_file_max_buffer_size 1048576, stats_level 3, cache_numshardbits 7,
compaction_readahead_size 1048576, compaction_style 0, write_buffer_size 67108864, max_bytes_for_level_base 268435456,
target_file_size_base 67108864, compression_type none, key_size 48, cache_size 1073741824, threads 1
"""
VALUES, SCANS = "value_k 0.2615, value_sigma 25.45", "iter_k 2.517, iter_sigma 14.236"
KEYS = "key_dist_a 0.002312, key_dist_b 0.3467"
RANGES = "keyrange_dist_a 14.18, keyrange_dist_b -2.917, keyrange_dist_d -0.08082, keyrange_num 30"
THIRD = "keyrange_dist_c 0.0164"
SINE = "sine_mix_rate_interval_milliseconds 5000, sine_a 1000, sine_b 7.3e-05, sine_d 4500"
MIX = {
    "mix": "mix_get_ratio 0.83, mix_put_ratio 0.14, mix_seek_ratio 0.03",
    "get": "mix_get_ratio 1, mix_put_ratio 0, mix_seek_ratio 0",
    "put": "mix_get_ratio 0, mix_put_ratio 1, mix_seek_ratio 0",
    "seek": "mix_get_ratio 0, mix_put_ratio 0, mix_seek_ratio 1",
}
LEGACY = {
    "all_random": (VALUES, SCANS, SINE),  # its first option begins with "=="
    "all_dist": (VALUES, SCANS, SINE, KEYS, "keyrange_num 1"),
    "prefix_random": (VALUES, SCANS, SINE, RANGES),  # its third range parameter lacks the dashes
    "prefix_dist": (VALUES, SCANS, SINE, RANGES, THIRD, KEYS),
    "hwperf": (VALUES, KEYS),
}
OURS = {
    "all_random": (VALUES, SCANS, "keyrange_num 1"),
    "all_dist": (VALUES, SCANS, KEYS, "keyrange_num 1"),
    "prefix_random": (VALUES, SCANS, RANGES, THIRD),
    "prefix_dist": (VALUES, SCANS, RANGES, THIRD, KEYS),
    "hwperf": (VALUES, KEYS, "iter_k 0, iter_sigma 0"),
}


def run(folder: Path, config: str, mix: str, legacy: bool) -> dict[str, Flags]:
    included = [str(LIBRARY / f"{name}.yaml") for name in ("rocksdb", "db_bench")]
    lines = [
        "title: a",
        f"include: {included}",
        "builds: {a: {extends: rocksdb, version: 8.5.4}}",
        f"options: [mixgraph.server, {{cache_size: 1GiB}}, mixgraph.{config}, mixgraph.{mix}]",
        "workload: db_bench.mixgraph",
        f"params: {{keys: 1B, duration: 1h, legacy: {str(legacy).lower()}}}",
    ]
    (folder / "a.yaml").write_text("\n".join(lines), encoding="utf-8")
    stages = compile_spec(str(folder / "a.yaml"), None, HOST).stages
    steps = [step for stage in stages for step in stage.steps]
    return {step.name: given(step, "8.5.4") for step in steps if step.kind == "db_bench"}


@pytest.mark.parametrize(("legacy", "configs"), [(True, LEGACY), (False, OURS)], ids=["legacy", "ours"])
@pytest.mark.parametrize("config", LEGACY)
def test_every_flag_of_the_mix(
    tmp_path: Path, config: str, legacy: bool, configs: Mapping[str, tuple[str, ...]]
) -> None:
    found = run(tmp_path, config, "mix", legacy)["mixgraph"]
    own = flags(benchmarks="mixgraph,stats,levelstats", use_existing_db=1, duration=3600, histogram=int(not legacy))
    assert found == flags(SERVER, MIX["mix"], *configs[config]) | own


@pytest.mark.parametrize("mix", MIX)
def test_what_is_done_of_all_operations(tmp_path: Path, mix: str) -> None:
    found = run(tmp_path, "all_dist", mix, legacy=False)["mixgraph"]
    assert {name: value for name, value in found.items() if name.startswith("mix_")} == flags(MIX[mix])


@pytest.mark.parametrize("legacy", [True, False])
def test_the_load_has_the_options_of_the_run(tmp_path: Path, legacy: bool) -> None:
    found = run(tmp_path, "hwperf", "mix", legacy)
    own = flags(benchmarks="fillseq,stats,levelstats", use_existing_db=0, histogram=int(not legacy))
    assert found["load"].items() >= (flags(SERVER) | own).items()
    assert "duration" not in found["load"]
