# ruff: noqa: E501
"""Rules of stepgrid.lint.checkpoints."""

from tests.lint.rules import spec, step

CHAIN = [step("overwrite", "first", "duration: 1h"), step("readwhilewriting", "second", "write_rate: 1MiB")]
LATE = "sweep: {bits: {option: cache_size, values: [1GiB, 2GiB, 4GiB], %s}}\n"

FIRES = {
    "checkpoint-missing": [
        (spec(*CHAIN, rest=LATE % "steps: [second]"), "a checkpoint after step `first` would save 2h00m: cells repeat what leads to it"),
        (spec(*CHAIN, rest=LATE % "steps: [second]" + "repeat: 3\n"), "a checkpoint after step `first` would save 6h01m: cells repeat what leads to it"),
    ],
}  # fmt: skip

QUIET = {
    "checkpoint-missing": [
        spec(CHAIN[0], "checkpoint: loaded", CHAIN[1], rest=LATE % "from: loaded"),
        spec(*[one.replace("1h", "10m") for one in CHAIN], rest=LATE % "steps: [second]"),
        spec(*CHAIN, rest=LATE % "steps: [first, second]"),
    ],
}  # fmt: skip
