"""How a step ended: what is wrong with it, as a sentence, and the record that is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from compiler.drivers.protocol import Complains, ParseError, Runner
from compiler.plan.model import PlannedStep
from compiler.run.failure import disk_full, is_disk_full, killed_by, met_full_disk, read_only
from compiler.run.probes import Probed
from compiler.run.server.reached import Reached
from compiler.run.server.refusal import refused
from compiler.run.supervision.supervise import Ended


def complaint(
    ended: Ended, deadline: float, folder: Path, data: Path, server: Reached | None, kind: Runner
) -> str | None:
    """None of a program that ended well."""
    if ended.exit == 0 and not ended.overdue:
        return None
    logs = (folder, server.folder) if server else (folder,)  # a client may only be told that its table is full
    if any(met_full_disk(log, data) for log in logs):
        return disk_full(data, folder)
    if said := read_only(folder, data):
        return said
    if ended.overdue:
        return f"it did not end within {deadline:g} s, and was stopped{_halted(ended, server)}"
    if server and (said := refused(server, folder)):
        return said
    if ended.exit < 0:
        return f"it was killed by {killed_by(-ended.exit)}"
    own = kind.complaint(folder) if isinstance(kind, Complains) else None
    return own or f"it ended with exit status {ended.exit}"


def unreadable(kind: Runner, settings: Mapping[str, Any], folder: Path, data: Path) -> str | None:
    """Why its output cannot be read; None where it can."""
    try:
        kind.parse(folder, settings)
    except ParseError as error:
        return disk_full(data, folder) if met_full_disk(folder, data) else str(error)
    except OSError as error:
        if is_disk_full(error):
            raise
        return f"its output cannot be read: {error}"
    return None


def record(
    step: PlannedStep,
    ended: Ended,
    deadline: float,
    message: str | None,
    dropped: Iterable[str],
    timed: Mapping[str, Probed],
    seen: Mapping[str, Any],
) -> Mapping[str, Any]:
    """step.json; `seen`: how the program was found to run."""
    counted = {name: dict(probed.counters) for name, probed in timed.items() if probed.counters}
    return {
        "name": step.name,
        "kind": step.kind,
        "status": "failed" if message else "done",
        "exit": ended.exit,
        "overdue": ended.overdue,
        "started": ended.started,
        "ended": ended.ended,
        "seconds": ended.seconds,
        "user": ended.user,
        "system": ended.system,
        "max_rss": ended.max_rss,
        "deadline": deadline,
        "dropped": list(dropped),
        **({"probes": {name: probed.seconds for name, probed in timed.items()}} if timed else {}),
        **({"counters": counted} if counted else {}),
        **({"launch": dict(seen)} if seen else {}),
        **({"client": step.client} if step.client else {}),
    }


def _halted(ended: Ended, server: Reached | None) -> str:
    who = "its program" if ended.halted else "the server" if server and server.halted else ""
    return f"; {who} was halted (state T), by SIGSTOP or a debugger" if who else ""
