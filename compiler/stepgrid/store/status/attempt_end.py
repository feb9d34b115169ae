"""How a node's newest attempt ended, where nobody is at work on it and there is no result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stepgrid.host import file_reader
from stepgrid.model.status import End
from stepgrid.store.status.running_attempt import began

FAILURE = "failure.json"
KILLED = "killed"


def is_open(attempt: Path) -> bool:
    return not (attempt / FAILURE).is_file()


def end(attempts: Sequence[Path]) -> End | None:
    if not attempts:
        return None
    newest = attempts[-1]
    if is_open(newest):
        message = "the process that ran it was killed, and could not say so"
        return End(KILLED, message, "", newest, began(newest) or 0.0, len(attempts))
    record = file_reader.read(newest / FAILURE)
    return End(
        status=str(record.get("status") or "failed"),
        message=str(record.get("message") or "it does not say why"),
        step=str(record.get("step") or ""),
        log=Path(str(record.get("log") or newest)),
        when=_modified(newest / FAILURE),
        tries=len(attempts),
    )


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
