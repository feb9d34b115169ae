"""How a step ended: what is wrong with it, as a sentence, and the record that is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from stepgrid.host.disk import disk_full, is_disk_full, met_full_disk, read_only
from stepgrid.host.failure import FOUND_NOTHING
from stepgrid.host.processes.supervision import ProcessEnd, describe_signal
from stepgrid.model.figures import ParseError
from stepgrid.model.plan import PlannedStep
from stepgrid.model.search import SEARCH
from stepgrid.model.units import duration, exact_size
from stepgrid.plugins import hit_rate
from stepgrid.plugins.driver import FailureExplainer, Runner
from stepgrid.plugins.registry import parse_step
from stepgrid.run.probes import ProbeReading
from stepgrid.run.server.client_errors import refused
from stepgrid.run.server.server_handle import ReachedServer

Ran: TypeAlias = Callable[[], Sequence[PlannedStep]]


def out_of_memory(ended: ProcessEnd, limit: int | None) -> str | None:
    """A shell may go on when its child was killed, and end with exit status 0."""
    if not ended.out_of_memory:
        return None
    cause = f"`launch.memory` allows {exact_size(limit)}" if limit else "no `launch.memory`: the host's memory counts"
    return f"it ran out of memory, and the kernel killed one of its processes: {cause}"


def complaint(
    ended: ProcessEnd,
    deadline: float,
    folder: Path,
    data: Path,
    server: ReachedServer | None,
    kind: Runner,
    kept: Sequence[str],
) -> str | None:
    """None of a program that ended well. `kept`: names of the files in the folder that came out of its database."""
    if ended.exit == 0 and not ended.overdue:
        return None
    # a client may only be told that its table is full
    if met_full_disk(folder, data, kept) or (server and met_full_disk(server.folder, data)):
        return disk_full(data, folder)
    if said := read_only(folder, data):
        return said
    if ended.overdue:
        return f"it did not end within {deadline:g} s, and was stopped{_halted(ended, server)}"
    if server and (said := refused(server, folder)):
        return said
    if ended.exit < 0:
        return f"it was killed by {describe_signal(-ended.exit)}"
    own = kind.complaint(folder) if isinstance(kind, FailureExplainer) else None
    return own or f"it ended with exit status {ended.exit}"


def wrong_output(kind: Runner, step: PlannedStep, folder: Path, data: Path, ran: Ran) -> str | None:
    """Why it cannot be read, or measures something else. `ran`: the steps from an empty database on, up to this one."""
    try:
        found = parse_step(kind, folder, step.settings).metrics
    except ParseError as error:
        return disk_full(data, folder) if met_full_disk(folder, data) else str(error)
    except OSError as error:
        if is_disk_full(error):
            raise
        return f"its output cannot be read: {error}"
    wanted = hit_rate.expected_percent(ran())[-1] if found.get(hit_rate.FOUND) == 0 else None
    return FOUND_NOTHING.format(wanted) if wanted and hit_rate.is_zero(found, wanted, step) else None


def record(
    step: PlannedStep,
    ended: ProcessEnd,
    deadline: float,
    message: str | None,
    dropped: Iterable[str],
    timed: Mapping[str, ProbeReading],
    seen: Mapping[str, Any],
    value: int | None = None,
) -> Mapping[str, Any]:
    """step.json; `seen`: how the program was found to run; `value`: that a search tried."""
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
        **({SEARCH: value} if value is not None else {}),
        **({"suspended": ended.suspended, "warnings": [_suspended(ended.suspended)]} if ended.suspended else {}),
    }


def _suspended(seconds: float) -> str:
    return f"the host was suspended for {duration(seconds)} while the step ran: `stepgrid redo` measures it again"


def _halted(ended: ProcessEnd, server: ReachedServer | None) -> str:
    who = "its program" if ended.halted else "the server" if server and server.halted else ""
    return f"; {who} was halted (state T), by SIGSTOP or a debugger" if who else ""
