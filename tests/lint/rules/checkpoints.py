# ruff: noqa: E501
"""Rules of stepgrid.lint.checkpoints."""

from tests.lint.rules import spec, step

CHAIN = [step("overwrite", "first", "duration: 1h"), step("readwhilewriting", "second", "write_rate: 1MiB")]
LOADED = ["checkpoint: loaded", step("readwhilewriting", "second", "write_rate: 1MiB")]
CACHE = "sweep: {cache: {points: {a: {options: {%s}}, b: {options: {%s}}}}%s}\n"
ONE, TWO = "cache_size: 1GiB", "cache_size: 2GiB, open_files: 100"
LATE = "sweep: {bits: {option: cache_size, values: [1GiB, 2GiB, 4GiB], %s}}\n"

FIRES = {
    "checkpoint-missing": [
        (spec(*CHAIN, rest=LATE % "steps: [second]"), "a checkpoint after step `first` would save 2h00m: cells repeat what leads to it"),
        (spec(*CHAIN, rest=LATE % "steps: [second]" + "repeat: 3\n"), "a checkpoint after step `first` would save 6h01m: cells repeat what leads to it"),
    ],
    "loads-repeated": [
        (spec(*LOADED, rest=CACHE % ("cache_size: 1GiB", "cache_size: 2GiB", "")), "axis `cache` repeats the load for each value, but `cache_size` changes no database"),
        (spec(*LOADED, rest=CACHE % (ONE, TWO, ", bits: {option: bloom_bits, values: [8, 10]}")), "axis `cache` repeats the load for each value, but `cache_size` and `open_files` change no database"),
    ],
}  # fmt: skip

QUIET = {
    "checkpoint-missing": [
        spec(CHAIN[0], "checkpoint: loaded", CHAIN[1], rest=LATE % "from: loaded"),
        spec(*[one.replace("1h", "10m") for one in CHAIN], rest=LATE % "steps: [second]"),
        spec(*CHAIN, rest=LATE % "steps: [first, second]"),
    ],
    "loads-repeated": [
        spec(*LOADED, rest=CACHE.replace("{points", "{from: loaded, points") % (ONE, TWO, "")),
        spec(*LOADED, rest=CACHE % (ONE, TWO + ", bloom_bits: 8", "")),  # which changes what is written
        spec(*LOADED, rest=CACHE % (ONE, TWO, "") + "share: false\n"),
        spec("checkpoint: loaded", rest=CACHE % (ONE, TWO, "")),  # nothing comes after
        spec(LOADED[1], rest=CACHE % (ONE, TWO, "")),
        spec(step("readrandom", "early"), *LOADED, rest=CACHE % (ONE, TWO, "")),  # it reads before the checkpoint
    ],
}  # fmt: skip
