# ruff: noqa: E501
"""Rules of stepgrid.lint.step_limits."""

from tests.lint.rules import spec, step

FIRES = {
    "step-short": [
        (spec(step("overwrite", more="duration: 59s")), "step `s` is measured for 59 s: an engine is not in a steady state by then"),
    ],
}  # fmt: skip

QUIET = {
    "step-short": [spec(step("overwrite", more="duration: 1m")), spec(step("overwrite", more="duration: 1s, measured: false"))],
}  # fmt: skip
