"""The server around the steps of a stage: set up, started, ready, ended, and all of it written down."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from stepgrid.host.disk import disk_full, met_full_disk
from stepgrid.host.failure import StageError, end_of_log, explaining_log
from stepgrid.host.files import write_json
from stepgrid.host.processes import supervision
from stepgrid.host.processes.cgroup import ControlGroup, caged
from stepgrid.host.processes.launch import LaunchError, LaunchPlan, check_launch, plan_launch, unloaded_allocator
from stepgrid.host.processes.signals import SERVER
from stepgrid.host.processes.supervision import (
    ProcessEnd,
    Program,
    UnreachableError,
    User,
    environment,
    give_files,
    server_user,
    supervise,
)
from stepgrid.model.plan import Command, PlannedStage, runs_already
from stepgrid.plugins import registry
from stepgrid.plugins.server import Connection, ServerEngine, ServerHome, ServerTimeouts
from stepgrid.run.accepted_options import AcceptedOptions
from stepgrid.run.attempt import Attempt
from stepgrid.run.server import readiness
from stepgrid.run.server.declared_service import declared
from stepgrid.run.server.external_server import reached
from stepgrid.run.server.home import FOLDER
from stepgrid.run.server.home import home as home_of
from stepgrid.run.server.process import LAST_WORDS, Server
from stepgrid.run.server.server_handle import ReachedServer
from stepgrid.run.server.server_log import first_complaint
from stepgrid.run.server.sockets import SocketError, sockets
from stepgrid.run.step_files import attach

SET_UP = 3600.0  # seconds for what makes a database
WHAT = {"initialize": "making the database", "prepare": "preparing the database", "stop": "stopping the server"}
PATIENCE = 3600.0  # seconds for a server that writes what it holds in memory before it ends


@contextmanager
def serving(
    attempt: Attempt, stage: PlannedStage, folder: Path, data: Path, accepted: Sequence[AcceptedOptions]
) -> Iterator[ReachedServer | None]:
    """None for an engine that lives in the step's own program. StageError for everything that goes wrong with it."""
    own = folder.resolve() / FOLDER
    engine = declared(attempt.job, stage, data, own, _options(accepted)) or registry.server_engine(
        attempt.job.build.engine
    )
    if engine is None:
        yield None
        return
    if runs_already(attempt.job.build.source):
        with reached(attempt, stage, folder, _options(accepted)) as server:
            yield server
        return
    own.mkdir(parents=True)
    try:
        user = server_user([data / "x", own / "x", *_programs(attempt.job.programs)])
        with sockets(engine.socket, user) as place:
            home = home_of(attempt.job, stage, engine, data, own, place, user)
            service = _Service(attempt, engine, home, user, _launch(stage), _options(accepted))
            yield from service.around()
    except (UnreachableError, SocketError, LaunchError, supervision.MissingError) as error:
        raise StageError(str(error)) from None
    except (LookupError, ValueError) as error:
        raise StageError(f"the server cannot be set up: {error}") from error


def _programs(programs: Mapping[str, Sequence[str]]) -> list[Path]:
    return [Path(prefix[0]) for prefix in programs.values() if prefix[0].startswith("/")]


def _who(user: User | None) -> Mapping[str, Any]:
    return {} if user is None else {"user": user.name, "inside": user.inside}


def _launch(stage: PlannedStage) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], stage.steps[0].setup.get("launch") or {})


def _options(accepted: Sequence[AcceptedOptions]) -> Mapping[str, Any]:
    """The same for all steps of a stage: the plan sees to that."""
    return dict(accepted[0].options) if accepted else {}


@dataclass(slots=True)
class _Service:
    attempt: Attempt
    engine: ServerEngine
    home: ServerHome
    user: User | None
    launch: Mapping[str, Any]
    options: Mapping[str, Any]
    record: dict[str, Any] = field(default_factory=dict)

    def around(self) -> Iterator[Server]:
        self._set_up()
        done = plan_launch(self.engine.serve(self.home), self.launch)
        with caged(done.memory) as cage:
            server = self._start(done, cage)
            try:
                self.attempt.journal(SERVER, pid=server.pid, **_who(self.user))
                self._wait_for(server, done.scoped)
                yield server
                self._stop(server)
            finally:
                server.kill()  # after a failure nobody needs the database
                supervision.reap(server.child)

    def _set_up(self) -> None:
        home = self.home
        home.scratch.mkdir(exist_ok=True)
        attach(home.folder, self.engine.configuration(home, self.options), 0o644)
        home.data.chmod(0o700)  # some refuse a database that others can read
        give_files(self.user, home.data, home.scratch, home.folder)
        if not any(home.data.iterdir()):
            self._run("initialize", self.engine.initialize(home))
        self._run("prepare", self.engine.prepare(home))

    def _run(self, name: str, commands: Sequence[Command], seconds: float = SET_UP) -> None:
        for index, command in enumerate(commands):
            began, folder = time.monotonic(), self.home.folder / f"{name}-{index}"
            folder.mkdir()
            argv, env = self._command(command, folder)
            ended = supervise(Program(argv, env, folder, self.user), seconds)
            if ended.exit or ended.overdue:
                raise self._refused(name, folder, ended, seconds)
            for given in command.files:  # a password is in some, and the build has the rest
                (folder / given).unlink(missing_ok=True)
            self.attempt.journal(f"server {name}", index=index, seconds=time.monotonic() - began)

    def _refused(self, name: str, folder: Path, ended: ProcessEnd, seconds: float) -> StageError:
        log = explaining_log(folder)
        how = f"it did not end within {seconds:g} s" if ended.overdue else f"it {supervision.describe_exit(ended.exit)}"
        said = first_complaint(log) if ended.exit > 0 else ""
        if met_full_disk(folder, self.home.data):
            return StageError(disk_full(self.home.data, folder), None, log, end_of_log(log))
        return StageError(f"{WHAT[name]} failed: {said or how}", None, log, end_of_log(log), starting=name == "prepare")

    def _start(self, done: LaunchPlan, cage: ControlGroup) -> Server:
        _, env = self._command(done.command, self.home.folder, done.record)
        child = supervision.spawn(Program(done.argv, env, self.home.folder, self.user, cage))
        return Server(self.home.access, child, self.home.folder, self.home.data, cage=cage)

    def _command(
        self, command: Command, folder: Path, launch: Mapping[str, Any] | None = None
    ) -> tuple[Sequence[str], Mapping[str, str]]:
        scratch = str(self.home.scratch)  # what is in our own HOME is neither its business nor its to enter
        env = environment({"HOME": scratch, "TMPDIR": scratch, **command.env})
        about = {"argv": list(command.argv), "env": dict(command.env), "environment": env}
        write_json(folder / "command.json", {**about, "launch": dict(launch or {})}, durable=False)
        attach(folder, command.files)
        give_files(self.user, folder)
        return command.argv, env

    def _wait_for(self, server: Server, scoped: bool) -> None:
        began = time.monotonic()
        seen = check_launch(server.pid, self.launch)
        if scoped:
            server.cage.follow(server.pid)
        connection = self._connected(server)
        try:
            if said := unloaded_allocator(self.launch, self.home.folder / "stderr"):
                raise server.complaint(said)
            self.attempt.journal("server ready", seconds=time.monotonic() - began, launch=seen)
            self._compare(server, connection)
        finally:
            connection.close()

    def _connected(self, server: Server) -> Connection:
        try:
            return readiness.connected(self.engine, server)
        except StageError as failure:
            raise replace(failure, starting=not server.halted) from None

    def _compare(self, server: Server, connection: Connection) -> None:
        """Silently clamped or ignored is not what was asked for."""
        found = self.engine.effective(connection, self.options)
        write_json(
            self.home.folder / "effective.json", {"values": found.values, "differs": found.differs}, durable=False
        )
        server.warnings.extend(f"`{name}`: {sentence}" for name, sentence in found.differs.items())

    def _stop(self, server: Server) -> None:
        began = time.monotonic()
        patience, by_itself = self._ended(server)
        status = supervision.exit_status(server.pid)
        took = time.monotonic() - began
        self.attempt.journal("server stopped", seconds=took, exit=status, killed=not by_itself)
        late = f"the server did not end within {patience:g} s, and was killed"
        if not by_itself and isinstance(self.engine, ServerTimeouts):
            raise server.complaint(f"{late}: its database may be incomplete")
        if not by_itself:
            server.warnings.append(late)
        elif status and status not in self._usual:
            server.warnings.append(f"the server {supervision.describe_exit(status)} when it was asked to end")

    def _ended(self, server: Server) -> tuple[float, bool]:
        """How long it had, and whether it ended by itself."""
        if not isinstance(self.engine, ServerTimeouts):
            patience = float(os.environ.get("STEPGRID_PATIENCE") or PATIENCE)
            return patience, supervision.stop(server.pid, self.engine.stop, patience)
        patience, command = self.engine.stop_within, self.engine.ending(self.home.access)
        if command is None:
            return patience, supervision.stop(server.pid, self.engine.stop, patience)
        try:
            self._run("stop", [command], patience)
        except StageError:
            if not server.gone(LAST_WORDS):  # a client that lost its server has done what was asked of it
                raise
        by_itself = server.gone(patience)
        server.kill()
        return patience, by_itself

    @property
    def _usual(self) -> tuple[int, ...]:
        """Of a program that leaves the signal to the system, or says its number as shells do."""
        return (-self.engine.stop, 128 + self.engine.stop) if isinstance(self.engine, ServerTimeouts) else ()
