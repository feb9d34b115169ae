"""A server that runs: whether it is still there, and if not, why."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepgrid.host.disk import disk_full, met_full_disk
from stepgrid.host.failure import StageError, end_of_log, explaining_log
from stepgrid.host.processes import supervision
from stepgrid.host.processes.cgroup import ControlGroup
from stepgrid.host.processes.supervision import describe_signal
from stepgrid.host.sampling import ProcessGroup
from stepgrid.plugins.server import Access
from stepgrid.run.server.server_log import crashed, first_complaint

MEMORY = "`launch.memory`, or the host's"
LAST_WORDS = 3.0  # seconds between a client that fails and the end of the server that it lost


@dataclass(slots=True)
class Server:
    access: Access
    child: subprocess.Popen[bytes]
    folder: Path  # its configuration and its logs
    data: Path
    warnings: list[str] = field(default_factory=list)  # what must travel with every figure
    cage: ControlGroup = field(default_factory=ControlGroup)

    @property
    def pid(self) -> int:
        return self.child.pid

    @property
    def ours(self) -> int:
        return self.pid

    def gone(self, seconds: float = 0.0) -> bool:
        """Whether it has ended, at the latest in so many seconds."""
        return supervision.wait(self.pid, seconds) is not None

    def failure(self, when: str, step: str | None = None) -> StageError:
        """Of one that is gone. `when` follows how it ended."""
        status = supervision.exit_status(self.pid) or 0
        said = first_complaint(explaining_log(self.folder)) if status >= 0 else ""  # who was killed had no last word
        how = f"the server {supervision.describe_exit(status)}{when}"
        if status == -signal.SIGKILL and self.cage.ran_out:
            how = f"the server ran out of memory{when}: the kernel killed it ({MEMORY})"
        return self.complaint(f"{how}: {said}" if said else how, step)

    def complaint(self, message: str, step: str | None = None) -> StageError:
        log = explaining_log(self.folder)
        full = disk_full(self.data, self.folder) if met_full_disk(self.folder, self.data) else None
        return StageError(full or message, step, log, end_of_log(log))

    def crash(self, step: str) -> StageError | None:
        """One of several processes goes on without the one that crashed; its clients were all disconnected."""
        found = crashed(self.folder / "stderr")
        if found is None:
            how = "the server ran out of memory while the step ran: the kernel killed one of its processes"
            return self.complaint(f"{how} ({MEMORY})", step) if self.cage.ran_out else None
        said = f"a process of the server was killed by {describe_signal(found.signal)} while the step ran: {found.who}"
        if found.signal == signal.SIGKILL and self.cage.ran_out:
            said = f"the server ran out of memory while the step ran: the kernel killed {found.who} ({MEMORY})"
        return self.complaint(f"{said}; all its clients were disconnected", step)

    @property
    def halted(self) -> bool:
        return any(supervision.is_halted(pid) for pid in (self.pid, *ProcessGroup(self.pid).members()))

    def kill(self) -> None:
        """With its children, which may lead groups of their own."""
        members = ProcessGroup(self.pid).members()
        supervision.kill(self.pid)
        for pid in members:
            supervision.kill(pid)
        self.gone(supervision.TO_VANISH)

    def noted(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """The record of a step, with what is known by now."""
        return {**record, "warnings": [*record.get("warnings", ()), *self.warnings]} if self.warnings else record
