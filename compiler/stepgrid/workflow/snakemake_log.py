"""What of Snakemake's own messages reaches the screen: what it cannot do, never what it does; its log keeps all."""

from __future__ import annotations

import logging
from typing import Any

from stepgrid.workflow.snakemake_hooks import Hooks

NOTHING = "Nothing to be done"
STREAM = "DefaultStreamHandler"
LAST_WORDS = ("At least one job did not complete successfully", "Exiting because a job execution failed")
DIED = "died with <Signals."  # then the hooks say so
FAILED = "returned non-zero exit status 1."  # our commands say why; a signal or a missing program says nothing itself


def quieten(hooks: Hooks, settings: Any) -> None:
    """Filters the screen, not the log file; --verbose and a dry run show what Snakemake says."""
    logging.raiseExceptions = False  # a log file that cannot grow is no traceback
    if settings.verbose:
        return
    for handler in logging.getLogger("snakemake.logging").handlers:
        if handler.name == STREAM:
            handler.addFilter(_Screen(hooks, settings.dryrun))


class _Screen(logging.Filter):
    def __init__(self, hooks: Hooks, dryrun: bool) -> None:
        super().__init__()
        self.hooks, self.dryrun = hooks, dryrun

    def filter(self, record: logging.LogRecord) -> bool:
        text = str(record.msg or "")
        if text.startswith(NOTHING) and self.hooks.work.is_over:
            record.msg = self.hooks.work.nothing_to_do
            return True
        if record.levelno < logging.WARNING:
            return self.dryrun
        return not (self.hooks.stopped or _said_already(record, text))


def _said_already(record: logging.LogRecord, text: str) -> bool:
    """A job's command has said on the screen why it failed, and the run's last word counts the failures."""
    event = getattr(getattr(record, "event", None), "name", "")
    return (
        event in ("JOB_ERROR", "GROUP_ERROR")
        or FAILED in text
        or DIED in text
        or any(words in text for words in LAST_WORDS)
    )
