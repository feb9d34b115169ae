# ruff: noqa: E501
"""Rules of stepgrid.lint.comparison."""

from tests.lint.rules import GRID, WHILE, spec

FIRES = {
    "no-repeats": [
        (spec(WHILE, rest=GRID), "2 cells are compared and each is loaded once: there can be no verdict"),
        (spec(WHILE, rest=GRID + "repeat: {loads: 1, runs: 4}\n"), "4 runs of one load are no repeats: they share its tree, so there can be no verdict"),
    ],
}  # fmt: skip

QUIET = {
    "no-repeats": [spec(WHILE), spec(WHILE, rest=GRID + "repeat: 2\n")],
}  # fmt: skip
