"""What of Snakemake's own messages reaches the screen: what it cannot do, never what it does; its log keeps all.

Snakemake finds a logger by the name of its package (`--logger stepgrid`, in profiles/default)."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from stepgrid.host.terminal_output import visible

ANSWER = "stepgrid_answer"  # what a record has that says what is there when nothing is to be done
_FAILED = (LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR)
_UNAVAILABLE = "Detailed failure reason unavailable (status command is not 'sacct')."
_GUESSES = (  # of the executor for SLURM, which works without what it could not find
    "No SLURM account given",
    "No account was given",
    "Unable to guess SLURM account",
    "No wall time information given",
)
_NOT_OVER = (LogEvent.RUN_INFO, LogEvent.ERROR)


class LogHandler(LogHandlerBase):
    """--verbose and a dry run are left to Snakemake's own handler, which shows all."""

    def __post_init__(self) -> None:
        logging.raiseExceptions = False  # a log file that cannot grow is no traceback
        self._events: set[LogEvent | None] = set()
        self._answer = ""

    def emit(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        self._events.add(event)
        self._answer = getattr(record, ANSWER, self._answer)
        if self.writes_to_stream and event in _FAILED and (said := _of_cluster(record)):
            self._print(said)
        elif self.writes_to_stream and record.levelno >= logging.WARNING and not self._is_told(record, event):
            self._print(self.format(record))

    def close(self) -> None:
        if LogEvent.WORKFLOW_STARTED in self._events and self._events.isdisjoint(_NOT_OVER):
            self._print(self._answer)
        self._events.clear()  # Python closes it again at its end
        super().close()

    def _is_told(self, record: logging.LogRecord, event: LogEvent | None) -> bool:
        """A job's command has said why it failed, and the run's last word counts the failures."""
        exception = getattr(record, "exception", None)
        if record.getMessage().startswith(_GUESSES):
            return True
        if event in _FAILED or (exception == "RuleException" and LogEvent.JOB_STARTED in self._events):
            return True
        counted = not self._events.isdisjoint(_FAILED) and exception in ("WorkflowError", None)
        return counted and record.levelno >= logging.ERROR

    def _print(self, text: str) -> None:
        with suppress(OSError):  # nobody reads any more
            print(
                visible(text),
                end="\n" if text else "",
                file=sys.stdout if self.common_settings.stdout else sys.stderr,
                flush=True,
            )

    @property
    def writes_to_stream(self) -> bool:
        return not (self.common_settings.verbose or self.common_settings.dryrun)

    @property
    def writes_to_file(self) -> bool:
        return False

    @property
    def has_filter(self) -> bool:
        return True

    @property
    def has_formatter(self) -> bool:
        return False

    @property
    def needs_rulegraph(self) -> bool:
        return False


def _of_cluster(record: logging.LogRecord) -> str:
    """What the scheduler says of a job that failed, which may never have come to say it itself; with the job's log."""
    message = str(getattr(record, "rule_msg", None) or "").partition("For further error details")[0]
    said = message.replace(_UNAVAILABLE, "").strip(" .\n")
    names = [Path(str(path)).name for path in getattr(record, "output", None) or ()][:1]
    logs = [str(path) for path in getattr(record, "log", None) or () if "slurm_logs" in str(path)][:1]
    return "; its log: ".join([": ".join([*names, said]), *map(_from_here, logs)]) if said else ""


def _from_here(log: str) -> str:
    return os.path.relpath(log)
