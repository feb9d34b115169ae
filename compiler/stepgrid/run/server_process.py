"""A server as a step sees it: its process, what its log says, how it refuses clients, and its socket's folder."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from stepgrid.host.disk import disk_full, met_full_disk
from stepgrid.host.failure import StageError, end_of_log, explaining_log, last_bytes
from stepgrid.host.files import write_json
from stepgrid.host.processes import supervision
from stepgrid.host.processes.cgroup import ControlGroup
from stepgrid.host.processes.supervision import User, describe_exit, describe_signal, give_files
from stepgrid.host.sampling import ProcessGroup
from stepgrid.model.plan import PlannedStage
from stepgrid.model.records import StepRecord, replace
from stepgrid.plugins import registry
from stepgrid.plugins.server import Access, Effective
from stepgrid.run.client_host import ClientHost

FOLDER = "server"  # in the attempt's: configuration and logs
SETTINGS = "effective.json"
LAST_WORDS = 3.0  # seconds between a client that fails and the end of the server that it lost
_MEMORY = "`launch.memory`, or the host's"


@dataclass(slots=True)
class ReachedServer(ABC):
    """A server around the steps of a stage: one that was started for it, or one that ran before."""

    access: Access
    folder: Path  # in the attempt: what is kept of it
    warnings: list[str] = field(default_factory=list, kw_only=True)  # go into the record of each step
    device: str | None = field(default=None, kw_only=True)  # that the files of one that ran before are on, if here
    client: ClientHost | None = field(default=None, kw_only=True)  # the machine of clients, where that is another one

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """Process that is sampled; None: it is none of this machine's, or unknown."""

    @property
    @abstractmethod
    def companion(self) -> int | None:
        """Process that stepgrid started: a step without it is pointless, and ends with it."""

    @property
    @abstractmethod
    def halted(self) -> bool: ...

    @abstractmethod
    def gone(self, seconds: float = 0.0) -> bool:
        """Tell whether it has ended, at the latest in so many seconds."""

    @abstractmethod
    def failure(self, when: str, step: str | None = None) -> StageError:
        """Blame a server that is gone; `when` follows how it ended."""

    @abstractmethod
    def crash(self, step: str) -> StageError | None:
        """Blame a server that answers, but has lost its clients while the step ran."""

    def keep_settings(self, effective: Effective) -> None:
        """Keep the settings that it runs with, and warn of those that it clamped or ignored."""
        write_json(self.folder / SETTINGS, effective._asdict(), durable=False)
        self.warnings.extend(f"`{name}`: {sentence}" for name, sentence in effective.differs.items())

    def add_warnings(self, record: StepRecord) -> StepRecord:
        """Add what the server warned of so far to the record of a step."""
        return replace(record, warnings=(*record.warnings, *self.warnings)) if self.warnings else record


@dataclass(slots=True)
class Server(ReachedServer):
    """A server that was started for a stage."""

    child: subprocess.Popen[bytes]
    data: Path
    cage: ControlGroup = field(default_factory=ControlGroup)
    start: Callable[[], subprocess.Popen[bytes]] | None = None

    @property
    def pid(self) -> int:
        return self.child.pid

    @property
    def companion(self) -> int:
        return self.pid

    @property
    def halted(self) -> bool:
        return any(supervision.is_halted(pid) for pid in (self.pid, *ProcessGroup(self.pid).members()))

    def gone(self, seconds: float = 0.0) -> bool:
        return supervision.wait(self.pid, seconds) is not None

    def failure(self, when: str, step: str | None = None) -> StageError:
        status = supervision.exit_status(self.pid) or 0
        log = first_complaint(explaining_log(self.folder)) if status >= 0 else ""  # a killed server had no last word
        message = f"the server {describe_exit(status)}{when}"
        if status == -signal.SIGKILL and self.cage.ran_out:
            message = f"the server ran out of memory{when}: the kernel killed it ({_MEMORY})"
        return self.complaint(f"{message}: {log}" if log else message, step)

    def complaint(self, message: str, step: str | None = None) -> StageError:
        log = explaining_log(self.folder)
        full = disk_full(self.data, self.folder) if met_full_disk(self.folder, self.data) else None
        return StageError(full or message, step, log, end_of_log(log))

    def crash(self, step: str) -> StageError | None:
        """Blame one of several processes that crashed; the others go on, and have disconnected all clients."""
        crash, memory = read_crash(self.folder / "stderr"), "the server ran out of memory while the step ran"
        if crash is None:
            message = f"{memory}: the kernel killed one of its processes ({_MEMORY})"
            return self.complaint(message, step) if self.cage.ran_out else None
        message = f"a process of the server was killed by {describe_signal(crash.signal)} while the step ran: "
        message += crash.process
        if crash.signal == signal.SIGKILL and self.cage.ran_out:
            message = f"{memory}: the kernel killed {crash.process} ({_MEMORY})"
        return self.complaint(f"{message}; all its clients were disconnected", step)

    def restart(self, between: Callable[[], None] | None = None) -> int:
        """Start it again on the same files, now that it has ended; its output until then is kept under another name.

        `between`: what is done while it does not run."""
        assert self.start is not None
        self.kill()
        supervision.reap(self.child)  # PostgreSQL takes the process of its lock file for alive until then
        if between:
            between()
        count = len([*self.folder.glob("stderr.*")]) + 1
        for name in ("stdout", "stderr"):
            (self.folder / name).rename(self.folder / f"{name}.{count}")
        self.child = self.start()
        return self.pid

    def kill(self) -> None:
        """Kill it with its children, which may lead groups of their own."""
        members = ProcessGroup(self.pid).members()
        for pid in (self.pid, *members):
            supervision.kill(pid)
        self.gone(supervision.TO_VANISH)


def storage_engine(engine: str, stage: PlannedStage) -> str:
    return stage.steps[0].setup.storage_engine or registry.engine(engine).default_storage_engine


# What a server's log says is wrong, as the end of a sentence

# mysqld and mariadbd: [ERROR] [MY-000077] [Server] /path/to/mysqld: text; postgres: FATAL:  text, and more behind it
_COMPLAINT = re.compile(
    r"(?:\[ERROR\]|\bFATAL:|\bPANIC:)(?: ?\[[^\]]*\])*\s*(?:/\S+: )?(?P<text>\S.*)(?:\n.*?\bDETAIL:\s+(?P<more>\S.*))?"
)
_CONSEQUENCES = ("Aborting", "the database system is starting up", "the database system is shutting down")
_IN_CONFIGURATION = re.compile(r'configuration file ".*" contains errors')  # the line before says which
_PARAMETER = re.compile(r'\bLOG:\s++(?P<text>.*\bparameter ".*)')
_CRASH = re.compile(r"\bLOG:\s+(?P<process>\S.*?)(?: process)? \(PID \d+\) was terminated by signal (?P<signal>\d+)")


class ServerCrash(NamedTuple):
    process: str  # of several that a server consists of
    signal: int


def first_complaint(log: Path) -> str:
    """Quote the first of its errors, as far as the end of the log goes; empty where it names none."""
    text = last_bytes(log)
    for match in _COMPLAINT.finditer(text):
        complaint = ": ".join(filter(None, map(_plain, match.groups())))
        if complaint not in _CONSEQUENCES:
            parameter = _PARAMETER.search(text) if _IN_CONFIGURATION.fullmatch(complaint) else None
            return _plain(parameter["text"]) if parameter else complaint
    return ""


def read_crash(log: Path) -> ServerCrash | None:
    """Read the first of its processes that was killed; then a server of several starts the others anew."""
    match = _CRASH.search(last_bytes(log))
    return ServerCrash(match["process"], int(match["signal"])) if match else None


def _plain(text: str | None) -> str:
    return (text or "").strip().rstrip(".")


# What a client was told by a server that runs

# of mysqld and mariadbd, and of PostgreSQL in several releases
NO_CONNECTION = re.compile(
    r"Too many connections|too many clients already|remaining connection slots are reserved|more than 'max_user_conn"
)


def explain_refusal(server: ReachedServer, step: Path) -> str | None:
    """Say that clients found no free connection, if a client's output in the step's folder says so."""
    if not any(NO_CONNECTION.search(last_bytes(step / name)) for name in ("stderr", "stdout")):
        return None
    limit = None
    with suppress(OSError, ValueError, KeyError):
        settings = json.loads((server.folder / SETTINGS).read_text(encoding="utf-8"))
        limit = settings["values"].get("max_connections")
    hint = "raise `max_connections`, or lower the number of the step's clients"
    return f"the server had no free connection{f' (it has {limit})' if limit else ''}: {hint}"


# Folders for sockets: private, with a short path, removed with their owner

PREFIX = "stepgrid-socket-"
NEW = 60.0  # seconds: a folder that was made just now may not be locked yet
LONGEST_SOCKET = 100  # characters of its path: the kernel has room for 108 bytes, some clients for fewer


class SocketError(Exception):
    """No folder for a socket: names those that were tried."""


@contextmanager
def socket_folder(name: str, user: User | None) -> Iterator[Path]:
    """Make a folder for a socket of that name. Its owner holds a lock on it for as long as it lives."""
    folder = _make_socket_folder(name, user)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        give_files(user, folder)
        yield folder
    finally:
        with suppress(OSError):
            _remove(folder)
        os.close(descriptor)


def _make_socket_folder(name: str, user: User | None) -> Path:
    reasons: list[str] = []
    for parent in socket_parents():
        sweep(parent, {os.geteuid(), *([user.uid] if user else [])})
        try:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))  # mode 700
        except OSError as error:
            reasons.append(f"{parent}: {error.strerror}")
            continue
        if len(os.fsencode(folder / name)) < LONGEST_SOCKET:
            return folder
        folder.rmdir()
        reasons.append(f"{parent}: its path is too long")
    raise SocketError(f"there is no place for the server's socket ({'; '.join(reasons)}); set TMPDIR to a short path")


def socket_parents() -> list[Path]:
    private = [os.environ.get("XDG_RUNTIME_DIR")] if os.geteuid() else []
    return list(dict.fromkeys(Path(path) for path in (*private, tempfile.gettempdir(), "/tmp", "/var/tmp") if path))


def sweep(parent: Path, owners: Collection[int]) -> None:
    """Remove the folders of these users whose owners are dead: nobody holds their locks."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                status = os.fstat(descriptor)
                if status.st_uid in owners and time.time() - status.st_ctime > NEW:
                    _remove(folder)
            finally:
                os.close(descriptor)


def _remove(folder: Path) -> None:
    """Remove files and no folders: whatever else has such a name is not stepgrid's."""
    for entry in folder.iterdir():
        entry.unlink()
    folder.rmdir()
