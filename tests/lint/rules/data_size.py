# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.db_bench.sequence_lints."""

from tests.lint.rules import MACHINE, WHILE, spec

SIZES = "key_size: 20, value_size: 400"
DATA = "sweep: {data: {%s: {params: {keys: %s}}, other: {params: {keys: 9B}}}}\n"

FIRES = {
    "cached-does-not-fit": [
        (spec(WHILE, options=f"{SIZES}, cache_size: 1GiB", rest=DATA % ("byrx", "100M")), "`byrx` is called cached, but 39.12 GiB of data, a block cache of 1 GiB: it does not fit (in 1 of 2 cells: b-9.10.0, byrx)"),
        (spec(WHILE, options=f"{SIZES}, cache_size: 1GiB, compression_type: none", rest=MACHINE + DATA % ("byos", "1B")), "`byos` is called cached, but 391.2 GiB of files, 128 GiB of memory: they do not fit (in 1 of 2 cells: b-9.10.0, byos)"),
    ],
    "io-bound-fits": [
        (spec(WHILE, options=f"{SIZES}, cache_size: 90GiB", rest=MACHINE + DATA % ("iodir", "100M")), "`iodir` is called IO-bound, but 39.12 GiB of data fit in the block cache of 90 GiB (in 1 of 2 cells: b-9.10.0, iodir)"),
        (spec(WHILE, options=f"{SIZES}, cache_size: 1GiB", rest=MACHINE + DATA % ("io-bound", "100M")), "`io-bound` is called IO-bound, but 20.49 GiB of files fit in the 128 GiB of memory (in 1 of 2 cells: b-9.10.0, io-bound)"),
    ],
}  # fmt: skip

QUIET = {
    "cached-does-not-fit": [
        spec(WHILE, options=f"{SIZES}, cache_size: 40GiB", rest=DATA % ("byrx", "100M")),
        spec(WHILE, options=f"{SIZES}, cache_size: 1GiB", rest=DATA % ("large", "100M")),
        spec(WHILE, options=SIZES, rest=DATA % ("byrx", "100M")),
    ],
    "io-bound-fits": [
        spec(WHILE, options=f"{SIZES}, cache_size: 90GiB", rest=MACHINE + DATA % ("iobuf", "2B")),
        spec(WHILE, options=f"{SIZES}, cache_size: 1GiB, use_direct_reads: true", rest=MACHINE + DATA % ("iodir", "100M")),
    ],
}  # fmt: skip
