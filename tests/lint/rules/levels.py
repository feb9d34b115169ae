# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.db_bench.step_lints."""

from tests.lint.rules import OVERWRITE, spec

UNIVERSAL = "{name: wait, kind: db_bench, benchmarks: [waitforcompaction], measured: false, duration: null}"

FIRES = {
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
}  # fmt: skip

QUIET = {
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
}  # fmt: skip
