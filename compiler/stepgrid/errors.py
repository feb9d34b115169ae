"""Errors that reach a person as sentences, and the exit statuses of all commands."""

from __future__ import annotations

FINE = 0
PROBLEMS = 1  # a spec is wrong
USAGE = 2  # the command's words are
FAILED = 3  # a run, or what a command was to do, failed
CLAIM_FAILED = 4


class StepgridError(Exception):
    """Sentences, one or two: what is wrong and where, what was expected."""

    status = FAILED  # of a command that ends with it
    hint = ""  # what to do, ready to be pasted
