"""A server that ran before: reached for a stage, looked at, left as it is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepgrid.build import external_server
from stepgrid.build.external_server import UnansweredError, connect
from stepgrid.host import disk
from stepgrid.host.failure import StageError
from stepgrid.host.files import write_json
from stepgrid.host.processes import supervision
from stepgrid.model.plan import SERVER, PlannedStage
from stepgrid.plugins.engine import IdentityError
from stepgrid.plugins.server import Access, Connection, ExternalServerEngine, ServerStart
from stepgrid.run.attempt import Attempt
from stepgrid.run.server import local_process
from stepgrid.run.server.client_errors import NO_CONNECTION
from stepgrid.run.server.home import FOLDER, storage_engine

REACHED = "server reached"  # in the journal: never a pid that somebody would end
ELSEWHERE = (
    "the server's process is not one that can be read here: its CPU and memory are not known, and what is said of the "
    "host is said of that of its clients"
)
SLACK = 3.0  # seconds by which two looks at one start may differ


@dataclass(slots=True)
class ExternalServer:
    access: Access
    folder: Path
    engine: ExternalServerEngine
    shown: str  # for sentences
    began: float  # by our clock that nobody sets
    pid: int | None = None
    device: str | None = None  # that its files are on, where they are here
    warnings: list[str] = field(default_factory=list)

    @property
    def ours(self) -> None:
        return None

    @property
    def halted(self) -> bool:
        return self.pid is not None and supervision.is_halted(self.pid)

    def gone(self, seconds: float = 0.0) -> bool:
        return self._answer(seconds) is not None

    def failure(self, when: str, step: str | None = None) -> StageError:
        return StageError(f"the server {self.shown} was lost{when}: {self._answer(0.0) or 'it answers again'}", step)

    def crash(self, step: str) -> StageError | None:
        """One that was started anew has lost its clients, and what it had in memory."""
        try:
            with closing(connect(self.engine, self.access, self.shown)) as connection:
                began = _began(self.engine.since(connection))
        except Exception:  # of each client its own; whether it is gone was asked before
            return None
        if began - self.began <= SLACK:
            return None
        return StageError(f"the server {self.shown} was started anew while the step ran", step)

    def noted(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**record, "warnings": [*record.get("warnings", ()), *self.warnings]} if self.warnings else record

    def _answer(self, seconds: float) -> str | None:
        """Why there is none. One that has no free connection is there."""
        try:
            connect(self.engine, self.access, self.shown, seconds).close()
        except UnansweredError as why:
            return None if NO_CONNECTION.search(why.reason) else why.reason
        return None


@contextmanager
def reached(
    attempt: Attempt, stage: PlannedStage, folder: Path, options: Mapping[str, Any]
) -> Iterator[ExternalServer]:
    own = folder.resolve() / FOLDER
    own.mkdir(parents=True)
    began, job = time.monotonic(), attempt.job
    engine, access, shown = _entry(attempt, stage)
    try:
        with closing(connect(engine, access, shown)) as connection:
            server = _found(engine, access, own, shown, connection)
            _refuse_another(str(job.record["version"]), engine, connection, shown)
            _compare(server, connection, options)
    except UnansweredError as why:
        raise StageError(str(why), starting=True) from None
    server.warnings.extend([ELSEWHERE] if server.pid is None else [])
    attempt.journal(REACHED, seconds=time.monotonic() - began, local=server.pid is not None)
    yield server


def _entry(attempt: Attempt, stage: PlannedStage) -> tuple[ExternalServerEngine, Access, str]:
    build, site = attempt.job.build, attempt.job.site
    try:
        said = external_server.site_entry(build, site)
        assert said is not None
        access = external_server.access(build, said, storage_engine(build.engine, stage))
    except external_server.NoEntryError as why:
        raise StageError(str(why)) from None
    except OSError as why:
        raise StageError(f"the password of the server `{build.source[SERVER]}` cannot be read: {why}") from None
    return external_server.external_engine(build.engine), access, f"`{build.source[SERVER]}` ({said.address})"


def _found(
    engine: ExternalServerEngine, access: Access, own: Path, shown: str, connection: Connection
) -> ExternalServer:
    since = engine.since(connection)
    pid = local_process.process(access, since.pid)
    here = Path(since.data) if pid is not None and since.data else None
    device = disk.device(here) if here else None
    return ExternalServer(access, own, engine, shown, _began(since), pid, device)


def _began(since: ServerStart) -> float:
    return time.monotonic() - since.seconds


def _refuse_another(recorded: str, engine: ExternalServerEngine, connection: Connection, shown: str) -> None:
    try:
        version = engine.described(connection).identity.version
    except IdentityError as why:
        raise StageError(f"the server {shown} is not the build's any more: {why}") from None
    if version != recorded:
        message = f"the server {shown} says {version} by now, and its build was recorded as {recorded}"
        raise StageError(f"{message}: declare the version that it says")


def _compare(server: ExternalServer, connection: Connection, options: Mapping[str, Any]) -> None:
    """What was asked for is not ours to set."""
    found = server.engine.compared(connection, options)
    write_json(server.folder / "effective.json", {"values": found.values, "differs": found.differs}, durable=False)
    server.warnings.extend(f"`{name}`: {sentence}" for name, sentence in found.differs.items())
