# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.db_bench.step_lints."""

from tests.lint.rules import MACHINE, OVERWRITE, spec

FIRES = {
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
}  # fmt: skip

QUIET = {
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
}  # fmt: skip
