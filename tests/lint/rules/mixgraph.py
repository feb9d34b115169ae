# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.db_bench.step_lints."""

from tests.lint.rules import OLD, OVERWRITE, spec, step

MIX = step("mixgraph")

FIRES = {
    "mixgraph-threads": [
        (spec(step("mixgraph", more="threads: 4")), "step `s` runs mixgraph with 4 threads: together they are not the mix asked for"),
    ],
    "mixgraph-scan-length": [
        (spec(MIX, options="mix_seek_ratio: 0.03", version="7.0.4"), "mixgraph without iter_k and iter_sigma: before RocksDB 7.1 its scans then have a length of zero"),
        (spec(MIX, options="mix_seek_ratio: 0.03, iter_k: 0, iter_sigma: 0"), "mixgraph with iter_k: 0: its scans have a length of zero"),
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
}  # fmt: skip

QUIET = {
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
}  # fmt: skip
