# ruff: noqa: E501
"""Rules of stepgrid.lint.step_limits."""

from tests.lint.rules import spec, step

FIRES = {
    "step-short": [
        (spec(step("overwrite", more="duration: 59s")), "step `s` is measured for 59 s: an engine is not in a steady state by then"),
    ],
    "rows-few": [
        (spec(step("overwrite", more="duration: null, writes: 1000")), "step `s` ends within milliseconds: 1,000 writes"),
        (spec(step("fillseq", more="fresh: true, keys: 2000, threads: 4"), load=""), "step `s` ends within milliseconds: 8,000 keys"),
    ],
}  # fmt: skip

QUIET = {
    "step-short": [spec(step("overwrite", more="duration: 1m")), spec(step("overwrite", more="duration: 1s, measured: false"))],
    "rows-few": [
        spec(step("overwrite", more="keys: 1000")),  # time ends it
        spec(step("overwrite", more="duration: null, writes: 10000")),
        spec(step("fillseq", more="fresh: true, keys: 1000, measured: false"), load="").replace("keys: 1M, ", ""),
    ],
}  # fmt: skip
