"""A server that already runs: reached for a stage, compared with its build and options, left as it is."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from stepgrid.build import external_server
from stepgrid.build.external_server import UnansweredError, connect
from stepgrid.host import disk
from stepgrid.host.failure import StageError
from stepgrid.host.processes import supervision
from stepgrid.model.plan import SERVER, PlannedStage, Value
from stepgrid.plugins.engine import IdentityError
from stepgrid.plugins.server import Access, Connection, ExternalServerEngine, ServerStart
from stepgrid.run.attempt import Attempt
from stepgrid.run.server_process import FOLDER, NO_CONNECTION, ReachedServer, storage_engine

REACHED = "server reached"  # in the journal: never a pid that somebody would end
ELSEWHERE = (
    "the server's process is not one that can be read here: its CPU and memory are not known, and what is said of the "
    "host is said of that of its clients"
)
SLACK = 3.0  # seconds by which two readings of one start may differ


@dataclass(slots=True)
class ExternalServer(ReachedServer):
    engine: ExternalServerEngine
    title: str  # for sentences
    began: float  # by our clock that nobody sets
    pid: int | None = None

    @property
    def companion(self) -> None:
        return None

    @property
    def halted(self) -> bool:
        return self.pid is not None and supervision.is_halted(self.pid)

    def gone(self, seconds: float = 0.0) -> bool:
        return self._silence(seconds) is not None

    def failure(self, when: str, step: str | None = None) -> StageError:
        return StageError(f"the server {self.title} was lost{when}: {self._silence(0.0) or 'it answers again'}", step)

    def crash(self, step: str) -> StageError | None:
        """Blame a server that was started anew: it has lost its clients, and what it had in memory."""
        try:
            with closing(connect(self.engine, self.access, self.title)) as connection:
                began = _start_time(self.engine.since(connection))
        except Exception:  # of each client its own; whether it is gone was asked before
            return None
        if began - self.began <= SLACK:
            return None
        return StageError(f"the server {self.title} was started anew while the step ran", step)

    def _silence(self, seconds: float) -> str | None:
        """Say why it does not answer. A server that has no free connection is alive."""
        try:
            connect(self.engine, self.access, self.title, seconds).close()
        except UnansweredError as error:
            return None if NO_CONNECTION.search(error.reason) else error.reason
        return None


@contextmanager
def reach(
    attempt: Attempt, stage: PlannedStage, folder: Path, options: Mapping[str, Value]
) -> Iterator[ExternalServer]:
    """Connect to the server of a stage; StageError if it is not the build's."""
    began, server_folder = time.monotonic(), folder.resolve() / FOLDER
    server_folder.mkdir(parents=True)
    engine, access, title = _read_entry(attempt, stage)
    try:
        with closing(connect(engine, access, title)) as connection:
            start = engine.since(connection)
            pid = find_process(access, start.pid)
            device = disk.device(Path(start.data)) if pid is not None and start.data else None
            server = ExternalServer(access, server_folder, engine, title, _start_time(start), pid, device=device)
            _refuse_other_version(attempt.job.engine.version, server, connection)
            server.keep_settings(engine.compared(connection, options))
    except UnansweredError as error:
        raise StageError(str(error), starting=True) from None
    server.warnings.extend([ELSEWHERE] if pid is None else [])
    attempt.journal(REACHED, seconds=time.monotonic() - began, local=pid is not None)
    yield server


def _read_entry(attempt: Attempt, stage: PlannedStage) -> tuple[ExternalServerEngine, Access, str]:
    build = attempt.job.build
    try:
        entry = external_server.site_entry(build, attempt.job.site)
        assert entry is not None
        access = external_server.access(build, entry, storage_engine(build.engine, stage))
    except external_server.NoEntryError as error:
        raise StageError(str(error)) from None
    except OSError as error:
        raise StageError(f"the password of the server `{build.source[SERVER]}` cannot be read: {error}") from None
    return external_server.external_engine(build.engine), access, f"`{build.source[SERVER]}` ({entry.address})"


def _start_time(start: ServerStart) -> float:
    return time.monotonic() - start.seconds


def _refuse_other_version(recorded: str, server: ExternalServer, connection: Connection) -> None:
    try:
        version = server.engine.described(connection).identity.version
    except IdentityError as error:
        raise StageError(f"the server {server.title} is not the build's any more: {error}") from None
    if version != recorded:
        message = f"the server {server.title} says {version} by now, and its build was recorded as {recorded}"
        raise StageError(f"{message}: declare the version that it says")


# The process of a server that already runs, if it is this machine's: its CPU and memory can be sampled

_SECONDS = 5.0
LOCAL, STATE, INODE, LISTENING = 1, 3, 9, "0A"  # of a line in /proc/PID/net/tcp
_CREDENTIALS = struct.Struct("3i")  # of who listens: pid, user, group


def find_process(access: Access, reported: int | None) -> int | None:
    """Find the server's process; `reported`: the pid that it tells, of its own machine. None where it is unsure."""
    if access.host:
        if reported is None or not is_here(access.host, access.port):
            return None
        parent = 0
        with suppress(OSError, ValueError, IndexError):
            parent = int(Path(f"/proc/{reported}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()[1])
        # the process or its parent, whichever listens there: of others' processes only root can tell
        return next((pid for pid in (reported, parent) if pid and _listens(pid, access.port)), None)
    try:
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(_SECONDS)
            client.connect(str(access.socket))
            credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except OSError:
        return None
    pid = int(_CREDENTIALS.unpack(credentials)[0])
    return pid if pid > 1 and Path(f"/proc/{pid}/stat").exists() else None  # 0: out of sight; 1: it only passed it on


def is_here(host: str, port: int) -> bool:
    """Tell whether what is sent there comes from that address as well. Nothing is sent."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with closing(socket.socket(family, kind, protocol)) as probe:
            probe.connect(address)
            return ip_address(address[0]).is_loopback or bool(probe.getsockname()[0] == address[0])
    except (OSError, ValueError):
        return False


def _listens(pid: int, port: int) -> bool:
    sockets = {f"socket:[{inode}]" for inode in _inodes(pid, port)}
    try:
        return any(str(entry.readlink()) in sockets for entry in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def _inodes(pid: int, port: int) -> Iterator[str]:
    """Read which sockets listen on this port, in the network that the process sees."""
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/net/{name}").read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[STATE] == LISTENING and int(fields[LOCAL].rpartition(":")[2], 16) == port:
                    yield fields[INODE]
