"""Verdicts for figures of other tools, and the history of a figure; it never runs a program or keeps a store."""

from stepgrid.cli.commands import Command

JUDGE = Command("its results", "judge", "compare figures that other tools measured, and say what they are worth",
                "stepgrid_judge.commands")  # fmt: skip
HISTORY = Command("its results", "history", "show a figure over all releases and days, and where it changed",
                  "stepgrid_judge.history")  # fmt: skip
