"""failure.json: why an attempt gave no result."""

from __future__ import annotations

from pathlib import Path

from stepgrid.host import files
from stepgrid.host.failure import StageError
from stepgrid.host.files import write_json


def write_failure(folder: Path, node: str, failure: StageError, status: str) -> None:
    record = {
        "node": node,
        "attempt": folder.name,
        "status": status,
        "step": failure.step,
        "message": failure.message,
        "tail": failure.tail,
        "log": str(failure.relative_log) if failure.log else None,
    }
    files.sweep_below(folder)
    write_json(folder / "failure.json", record)


def read_failure(folder: Path) -> StageError | None:
    """What was written; nothing where there is none."""
    said = files.read_json(folder / "failure.json")
    if not said.get("message"):
        return None
    step, log = said.get("step"), said.get("log")
    tail = str(said.get("tail") or "")
    return StageError(str(said["message"]), str(step) if step else None, Path(str(log)) if log else None, tail)
