"""Verdicts for figures that other tools measured; it never runs a program or keeps a store."""

from stepgrid.cli.commands import Command

JUDGE = Command("its results", "judge", "compare figures that other tools measured, and say what they are worth",
                "stepgrid_judge.commands")  # fmt: skip
