"""The server around the steps of a stage: set up, started, ready, its statistics read, and ended."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, cast

from msgspec import Struct

from stepgrid.host.disk import disk_full, met_full_disk
from stepgrid.host.failure import StageError, end_of_log, explaining_log, last_bytes
from stepgrid.host.files import write_json
from stepgrid.host.page_cache import COLD
from stepgrid.host.processes import supervision
from stepgrid.host.processes.cgroup import ControlGroup, caged
from stepgrid.host.processes.launch import LaunchError, LaunchPlan, check_launch, plan_launch, unloaded_allocator
from stepgrid.host.processes.signals import SERVER
from stepgrid.host.processes.supervision import (
    MissingError,
    Program,
    UnreachableError,
    User,
    describe_exit,
    environment,
    give_files,
    server_user,
    supervise,
)
from stepgrid.model.plan import ENGINE_WARM, Command, PlannedStage, PlannedStep, Value, runs_already
from stepgrid.model.records import Json, LaunchRequest, ServiceSetup, replace
from stepgrid.model.secret_variables import hide_secrets, reveal
from stepgrid.plugins import registry
from stepgrid.plugins.driver import OPTION_FORM, Context, absolute_inputs, command_words
from stepgrid.plugins.durability import PromisedDurability, running_durability
from stepgrid.plugins.server import (
    LOCAL,
    Access,
    Connection,
    DelayedCounters,
    Effective,
    IdleReading,
    NetworkServer,
    QuickRestart,
    SelfWarming,
    ServerEngine,
    ServerHome,
    ServerStatistics,
    ServerTimeouts,
    StatisticsReader,
    StatisticsReaders,
)
from stepgrid.plugins.statements import IndexReader, PlanReader, plan_text, used_indexes
from stepgrid.run.attempt import BEFORE, STATISTICS_FOLDER, Attempt, Job, attach, describe_failure, forget, last_line
from stepgrid.run.client_host import ClientHost, own_port, reach_clients
from stepgrid.run.options import AcceptedOptions
from stepgrid.run.server_process import (
    FOLDER,
    LAST_WORDS,
    ReachedServer,
    Server,
    SocketError,
    first_complaint,
    socket_folder,
    storage_engine,
)
from stepgrid.store.store import Store

SET_UP = 3600.0  # seconds for each command that makes a database
READY = 1800.0  # seconds: after a crash there may be much to recover
PATIENCE = 3600.0  # seconds for a server that writes what it holds in memory before it ends
PAUSE = 0.1
SCRATCH = "scratch"  # beside the database
BUILD_FOLDERS = ("basedir", "system tables")  # facts of a build record that name folders of the build
PURPOSES = {"initialize": "making the database", "prepare": "preparing the database", "stop": "stopping the server"}


@contextmanager
def serving(
    attempt: Attempt, stage: PlannedStage, folder: Path, data: Path, accepted: Sequence[AcceptedOptions]
) -> Iterator[ReachedServer | None]:
    """Run the stage's server; None for an engine in the step's own program. StageError for all that goes wrong."""
    server_folder = folder.resolve() / FOLDER
    options = dict(accepted[0].options) if accepted else {}  # the same for all steps of a stage: the plan sees to that
    service = _declared_service(attempt.job, stage, data, server_folder, options)
    engine = service or registry.server_engine(attempt.job.build.engine)
    if engine is None:
        yield None
        return
    if runs_already(attempt.job.build.source):
        from stepgrid.run.external_server import reach  # with what registers builds: few stages need it

        with reach(attempt, stage, folder, options) as server:
            yield server
        return
    server_folder.mkdir(parents=True)
    programs = [Path(prefix[0]) for prefix in attempt.job.engine.programs.values() if prefix[0].startswith("/")]
    try:
        user = server_user([data / "x", server_folder / "x", *programs])
        client = reach_clients(attempt, stage, engine)
        with socket_folder(engine.socket, user) as sockets:
            port = own_port(client.entry.listen) if client else engine.port
            access = Access(
                engine=attempt.job.build.engine,
                sockets=sockets,
                socket=sockets / engine.socket.replace(str(engine.port), str(port)),  # PostgreSQL's has it in its name
                port=port,
                user=engine.user,
                password=secrets.token_hex(16),
                database=engine.database,
                storage_engine=storage_engine(attempt.job.build.engine, stage),
                listen=client.entry.listen if client else "",
                client=client.address if client else "",
            )
            home = _server_home(attempt.job, access, data, server_folder, user)
            launch = launch_request(attempt.job.store, stage.steps[0])
            start = stage.steps[0].setup.start or ""
            if start == ENGINE_WARM and isinstance(engine, SelfWarming):
                options = {**engine.loading_options, **options}
            yield from _Service(attempt, engine, home, user, launch, options, start, client).run()
    except (UnreachableError, SocketError, LaunchError, MissingError) as error:
        raise StageError(str(error)) from None
    except (LookupError, ValueError) as error:
        raise StageError(f"the server cannot be set up: {error}") from error


def launch_request(store: Store, step: PlannedStep) -> LaunchRequest:
    """Return `launch` of a step with the values of its secrets."""
    return replace(step.setup.launch, env=_reveal(store, step.setup.launch.env))


def _reveal(store: Store, variables: Mapping[str, str]) -> Mapping[str, str]:
    try:
        return reveal(variables, store.read_secret)
    except LookupError as error:
        raise StageError(str(error.args[0])) from None


def _server_home(job: Job, access: Access, data: Path, folder: Path, user: User | None) -> ServerHome:
    build, facts = job.store.build(job.stage.build).resolve(), job.engine.record.facts
    return ServerHome(
        programs=job.engine.programs,
        version=job.engine.version,
        data=data,
        folder=folder,
        access=access,
        scratch=data.with_name(SCRATCH),
        build_folders={name: build / str(facts[name]) for name in BUILD_FOLDERS if facts.get(name)},
        account=user.name if user and user.inside else "",  # the namespace's name for root
    )


class _Service(Struct):
    attempt: Attempt
    engine: ServerEngine
    home: ServerHome
    user: User | None
    launch: LaunchRequest
    options: Mapping[str, Value]
    start: str  # what the caches hold
    client: ClientHost | None = None

    def run(self) -> Iterator[Server]:
        is_loading = self._set_up()
        launch = plan_launch(self.engine.serve(self.home), self.launch)
        with caged(launch.memory) as cage:
            server = self._start(launch, cage)
            try:
                self._wait_until_ready(server, launch.scoped)
                if is_loading:
                    self._wait_until_loaded(server)
                yield server
                self._stop(server)
            finally:
                server.kill()  # after a failure nobody needs the database
                supervision.reap(server.child)

    def _set_up(self) -> bool:
        """Make or prepare the database; tell if its engine will load the pages that it lists."""
        home = self.home
        home.scratch.mkdir(exist_ok=True)
        attach(home.folder, self.engine.configuration(home, self.options), 0o644)
        home.data.chmod(0o700)  # some refuse a database that others can read
        give_files(self.user, home.data, home.scratch, home.folder)
        if not any(home.data.iterdir()):
            self._run("initialize", self.engine.initialize(home))
            is_loading = False
        else:
            is_loading = self._prepare_page_list()
        self._run("prepare", self.engine.prepare(home))
        return is_loading

    def _prepare_page_list(self) -> bool:
        """Remove the list of pages for a cold start, or require it."""
        warming = self.engine if isinstance(self.engine, SelfWarming) else None
        name = warming.page_list(self.home.access.storage_engine, self.options) if warming else ""
        path = self.home.data / Path(name or "none").name
        if self.start == COLD and name:
            path.unlink(missing_ok=True)
        if self.start == ENGINE_WARM and not path.is_file():
            raise LookupError(
                f"`start: {ENGINE_WARM}` takes the engine's list of pages ({path.name}), which this database lacks: "
                "the stage before it must end with it"
            )
        return self.start == ENGINE_WARM

    def _run(self, name: str, commands: Sequence[Command], seconds: float = SET_UP) -> None:
        for index, command in enumerate(commands):
            began, folder = time.monotonic(), self.home.folder / f"{name}-{index}"
            folder.mkdir()
            ended = supervise(Program(command.argv, self._write_command(command, folder), folder, self.user), seconds)
            if failure := describe_failure(ended, seconds):
                log, data = explaining_log(folder), self.home.data
                if met_full_disk(folder, data):
                    raise StageError(disk_full(data, folder), None, log, end_of_log(log))
                reason = (first_complaint(log) if ended.exit > 0 else "") or f"it {failure}"
                message, starting = f"{PURPOSES[name]} failed: {reason}", name == "prepare"
                raise StageError(message, None, log, end_of_log(log), starting=starting)
            forget(folder, command.files)  # the build has them
            self.attempt.journal(f"server {name}", index=index, seconds=time.monotonic() - began)

    def _write_command(
        self, command: Command, folder: Path, launch: Mapping[str, Json] | None = None, program: str = ""
    ) -> dict[str, str]:
        """Write the command's record and files; return its environment."""
        scratch = str(self.home.scratch)  # what is in our own HOME is neither its business nor its to enter
        env = environment(program or command.argv[0], {"HOME": scratch, "TMPDIR": scratch, **command.env})
        record = {"argv": list(command.argv), "env": hide_secrets(command.env), "environment": hide_secrets(env)}
        write_json(folder / "command.json", {**record, "launch": dict(launch or {})}, durable=False)
        attach(folder, command.files)  # one with a password is in the folder of the socket
        give_files(self.user, folder, self.home.access.sockets)
        return env

    def _start(self, launch: LaunchPlan, cage: ControlGroup) -> Server:
        def start_again() -> subprocess.Popen[bytes]:
            serve = self.engine.serve_again if isinstance(self.engine, QuickRestart) else self.engine.serve
            child = self._spawn(plan_launch(serve(self.home), self.launch), cage)
            self._open_gate(child.pid, cage if launch.scoped else None)
            return child

        child = self._spawn(launch, cage)
        return Server(self.home.access, self.home.folder, child, self.home.data, cage, start_again, client=self.client)

    def _spawn(self, launch: LaunchPlan, cage: ControlGroup) -> subprocess.Popen[bytes]:
        env = self._write_command(launch.command, self.home.folder, launch.public_record, launch.program)
        child = supervision.spawn(Program(launch.argv, env, self.home.folder, self.user, cage))
        user = {} if self.user is None else {"user": self.user.name, "inside": self.user.inside}
        self.attempt.journal(SERVER, pid=child.pid, **user)
        return child

    def _open_gate(self, pid: int, scope: ControlGroup | None) -> Mapping[str, Any]:
        launch = check_launch(pid, self.launch)
        if scope:
            scope.follow(pid)
        return launch

    def _wait_until_ready(self, server: Server, scoped: bool) -> None:
        began = time.monotonic()
        launch = self._open_gate(server.pid, server.cage if scoped else None)
        try:
            connection = connect(self.engine, server)
        except StageError as failure:
            failure.starting = not server.halted
            raise
        with closing(connection):
            if message := unloaded_allocator(self.launch, self.home.folder / "stderr"):
                raise server.complaint(message)
            self.attempt.journal("server ready", seconds=time.monotonic() - began, launch=launch)
            effective = self.engine.effective(connection, self.options)
            server.keep_settings(effective)
        if self.client and isinstance(self.engine, NetworkServer):
            self.client.variables.update(self.engine.network_environment(effective.values))
            self.client.tls_counter = self.engine.tls_counter
        if isinstance(self.engine, PromisedDurability) and self._is_own:
            access, version = self.home.access, self.home.version
            classes = running_durability(self.engine.promises, effective.values, version, access.storage_engine)
            self.attempt.note(durability=dict(classes))

    def _wait_until_loaded(self, server: Server) -> None:
        """Have the engine load the pages that it lists before the first step begins."""
        engine, log = cast(SelfWarming, self.engine), self.home.folder / "stderr"
        began, text = time.monotonic(), ""
        with closing(connect(self.engine, server)) as connection:
            while not (text := engine.loading_end(connection, last_bytes(log))):
                if server.gone(PAUSE):
                    raise server.failure(" while it loaded its cache")
                if time.monotonic() - began > READY:
                    raise server.complaint(f"the server did not load its cache within {READY:g} s")
        seconds = round(time.monotonic() - began, 3)
        self.attempt.journal("server loaded its cache", seconds=seconds, said=text)
        if self._is_own:
            self.attempt.note(loading={"loading": text, "loading_s": seconds})

    @property
    def _is_own(self) -> bool:
        """Tell the stage of the attempt from one before it that is replayed."""
        return self.home.folder.parent == self.attempt.folder.resolve()

    def _stop(self, server: Server) -> None:
        began, timeouts = time.monotonic(), self.engine if isinstance(self.engine, ServerTimeouts) else None
        patience = timeouts.stop_within if timeouts else float(os.environ.get("STEPGRID_PATIENCE") or PATIENCE)
        command = timeouts.ending(self.home.access) if timeouts else None
        if command is None:
            by_itself = supervision.stop(server.pid, self.engine.stop, patience)
        else:
            by_itself = self._stop_by_command(server, command, patience)
        status = supervision.exit_status(server.pid)
        self.attempt.journal("server stopped", seconds=time.monotonic() - began, exit=status, killed=not by_itself)
        late = f"the server did not end within {patience:g} s, and was killed"
        # a program may leave the signal to the system, or say its number as shells do
        usual = (-self.engine.stop, 128 + self.engine.stop) if timeouts else ()
        if not by_itself and timeouts:
            raise server.complaint(f"{late}: its database may be incomplete")
        if not by_itself:
            server.warnings.append(late)
        elif status and status not in usual:
            server.warnings.append(f"the server {describe_exit(status)} when it was asked to end")

    def _stop_by_command(self, server: Server, command: Command, patience: float) -> bool:
        try:
            self._run("stop", [command], patience)
        except StageError:
            if not server.gone(LAST_WORDS):  # a client that lost its server has done what was asked of it
                raise
        by_itself = server.gone(patience)
        server.kill()
        return by_itself


def connect(engine: ServerEngine, server: Server) -> Connection:
    """Wait until a server answers; StageError when it ends, does not let its client in, or takes too long."""
    default = float(os.environ.get("STEPGRID_READY") or READY)
    limit = engine.ready_within if isinstance(engine, ServerTimeouts) else default
    end, reason = time.monotonic() + limit, "nothing"
    while time.monotonic() < end:
        if server.gone():
            raise server.failure(" before it was ready")
        try:
            connection = engine.connect(server.access)
            connection.query("select 1")
            return connection
        except OSError as error:
            reason = str(error) or type(error).__name__
        except Exception as error:  # the client's own classes: it runs, and refuses
            raise server.complaint(f"the server runs, but does not let its client in: {error}") from None
        supervision.wait(server.pid, PAUSE)
    halted, client = ": it was stopped (state T), by SIGSTOP or a debugger", f"; its client was told: {reason}"
    raise server.complaint(f"the server was not ready within {limit:g} s{halted if server.halted else client}")


# A server program that a build declares as its `service`: started, asked whether it is ready, and stopped by that

READY_SERVICE, STOP_SERVICE = 120.0, 600.0  # seconds, where the spec does not say
ANSWER = 10.0  # seconds to answer whether it is ready
READY_FOLDER = "ready"  # of the command that asks, in the server's


def _declared_service(
    job: Job, stage: PlannedStage, data: Path, folder: Path, options: Mapping[str, Value]
) -> DeclaredService | None:
    service = stage.steps[0].setup.service
    if service is None:
        return None
    with closing(socket.socket()) as probe:
        probe.bind((LOCAL, 0))
        port = int(probe.getsockname()[1])
    return DeclaredService(
        replace(service, env=_reveal(job.store, service.env)),
        Context(job.engine.programs, job.engine.version, data, folder, 0, inputs=absolute_inputs(stage.steps[0].setup)),
        options,
        port,
        stop=signal.Signals[service.stop.signal or "SIGTERM"],
        ready_within=service.ready.timeout or READY_SERVICE,
        stop_within=service.stop.timeout or STOP_SERVICE,
    )


class DeclaredService(Struct):
    """A server engine that a spec describes: no protocol is known, so there is nothing to configure or read."""

    service: ServiceSetup
    context: Context
    options: Mapping[str, Value]
    port: int
    stop: signal.Signals
    ready_within: float
    stop_within: float
    socket: str = "service.sock"
    user: str = ""
    database: str = ""

    def configuration(self, home: ServerHome, options: Mapping[str, Value]) -> Mapping[str, str]:
        return {}

    def initialize(self, home: ServerHome) -> Sequence[Command]:
        return ()

    def prepare(self, home: ServerHome) -> Sequence[Command]:
        """Run nothing; refuse what cannot be right before it is started."""
        self.ending(home.access)
        ready = self.service.ready
        self._command(ready.command, home.access)
        if ready.port:
            with suppress(OSError):
                self.connect(home.access)
                port = self._word(ready.port, home.access)
                raise ValueError(f"another program listens on port {port}; use `{{port}}`")
        return ()

    def serve(self, home: ServerHome) -> Command:
        return self._command(self.service.argv, home.access)

    def ending(self, access: Access) -> Command | None:
        words = self.service.stop.command
        return self._command(words, access) if words else None

    def connect(self, access: Access) -> Connection:
        """Ask whether it is ready; nothing more can be asked."""
        ready = self.service.ready
        if ready.command:
            self._run_ready_command(self._command(ready.command, access))
            return _NoConnection()
        port = int(self._word(ready.port, access)) if ready.port else None
        with closing(socket.socket(socket.AF_UNIX if port is None else socket.AF_INET)) as client:
            client.settimeout(ANSWER)
            client.connect(self._word(ready.socket, access) if port is None else (LOCAL, port))
        return _NoConnection()

    def effective(self, connection: Connection, options: Mapping[str, Value]) -> Effective:
        return Effective({}, {})

    def counters(self, connection: Connection) -> Mapping[str, float]:
        return {}

    def looks(self, connection: Connection) -> StatisticsReaders:
        return ()

    def settle(self, connection: Connection, access: Access) -> AbstractContextManager[None]:
        return nullcontext()

    def analyze(self, connection: Connection, access: Access) -> None:
        pass

    def busy(self, connection: Connection, access: Access) -> Sequence[IdleReading]:
        return ()

    def _command(self, words: Sequence[str], access: Access) -> Command:
        env = {name: self._word(value, access) for name, value in self.service.env.items()}
        form = self.service.option or OPTION_FORM
        return Command(command_words(words, self.options, self.context, access.placeholders(), form), env)

    def _word(self, word: str, access: Access) -> str:
        return command_words((word,), {}, self.context, access.placeholders())[0]

    def _run_ready_command(self, command: Command) -> None:
        folder = self.context.folder / READY_FOLDER
        folder.mkdir(exist_ok=True)
        ended = supervise(Program(command.argv, environment(command.argv[0], command.env), folder), ANSWER)
        if failure := describe_failure(ended, ANSWER):
            raise ConnectionError(f"`{Path(command.argv[0]).name}` {failure}{last_line(folder)}")


class _NoConnection:
    def query(self, sql: str) -> list[Mapping[str, object]]:
        return []

    def close(self) -> None:
        pass


# Statistics of a server before and after a step, outside what is measured, kept in the step's folder.
# Nothing that is wrong with them fails a step: it is a warning with its figures.

ALLOWED = 60.0  # seconds: a server that is halted never answers, and is left alone with a thread


class _Statistics(NamedTuple):
    answers: dict[str, ServerStatistics]  # by reader
    refused: dict[str, str]  # reader -> reason
    lacking: dict[str, str]  # reader -> what the server does not have, as a sentence


def keep_statistics(engine: ServerEngine, server: ReachedServer, step: Path, when: str) -> None:
    """Write the numbers to statistics/WHEN.json, and what is for people into statistics/WHEN/."""
    began, name = time.monotonic(), step.name.partition("-")[2]
    shared = _Statistics({}, {}, {})  # with a thread that may go on when it was given up
    limit = _wait_for(partial(_ask, engine, server, when, shared))
    late = {"statistics": f"it did not answer within {limit:g} s"} if limit else {}
    statistics = _Statistics(dict(shared.answers), {**shared.refused, **late}, dict(shared.lacking))
    for reader, reason in statistics.refused.items():
        server.warnings.append(f"{name}: the server's {reader} {when} it could not be read: {reason}")
    server.warnings.extend(message for message in statistics.lacking.values() if message not in server.warnings)
    try:
        _write_statistics(statistics, step / STATISTICS_FOLDER, when, time.monotonic() - began)
    except OSError as error:
        server.warnings.append(f"{name}: the statistics {when} it could not be kept: {error.strerror}")


def _wait_for(ask: Callable[[], None]) -> float:
    """Ask in a thread; return the seconds after which it was given up, or 0."""
    limit = float(os.environ.get("STEPGRID_STATISTICS") or ALLOWED)
    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(limit)
    return limit if thread.is_alive() else 0.0


def _ask(engine: ServerEngine, server: ReachedServer, when: str, statistics: _Statistics) -> None:
    try:
        connection = engine.connect(server.access)
    except Exception as error:  # of each client its own
        statistics.refused["statistics"] = _client_message(error)
        return
    try:
        readers = list(engine.looks(connection))
        for reader in [reader for reader in readers if not reader.after_only] if when == BEFORE else readers[::-1]:
            _ask_one(reader, statistics)
    except Exception as error:
        statistics.refused["statistics"] = _client_message(error)
    finally:
        with suppress(Exception):
            connection.close()


def _ask_one(reader: StatisticsReader, statistics: _Statistics) -> None:
    try:
        statistics.answers[reader.name] = reader.read()
    except LookupError as error:
        statistics.lacking[reader.name] = _client_message(error)
    except Exception as error:
        statistics.refused[reader.name] = _client_message(error)


def _client_message(error: Exception) -> str:
    from stepgrid.build.external_server import client_message

    return client_message(error)


def _write_statistics(statistics: _Statistics, folder: Path, when: str, seconds: float) -> None:
    answers = statistics.answers
    (folder / when).mkdir(parents=True)
    for name, answer in answers.items():
        if answer.text:
            (folder / when / f"{name}.txt").write_text(answer.text, encoding="utf-8")
    numbers = {
        kind: {name: value for answer in answers.values() for name, value in getattr(answer, kind).items()}
        for kind in ("counters", "gauges", "sizes", "garbage", "work", "state")
    }
    objects = [
        {name: value for name, value in row._asdict().items() if value is not None}  # None: the engine does not know
        for answer in answers.values()
        for row in answer.objects
    ]
    levels = [answer.levels for answer in answers.values() if answer.levels is not None]
    rows = {"objects": objects, **({"levels": [*chain(*levels)]} if levels else {})}
    record = {"seconds": round(seconds, 4), **numbers, **rows, "refused": {**statistics.refused, **statistics.lacking}}
    write_json(folder / f"{when}.json", record, durable=False)


# Query plans of the statements of a step, before and after it, outside what its counters are of


def read_plans(engine: ServerEngine, server: ReachedServer, statements: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Explain statements by name; one that the server refuses has its message instead."""
    plans: dict[str, dict[str, str]] = {}
    if isinstance(engine, PlanReader):
        _wait_for(partial(_explain, engine, partial(engine.connect, server.access), statements, plans))
    return dict(plans)


def _explain(
    engine: PlanReader,
    connect: Callable[[], Connection],
    statements: Mapping[str, str],
    plans: dict[str, dict[str, str]],
) -> None:
    with suppress(Exception), closing(connect()) as connection:
        for name, sql in statements.items():
            try:
                plans[name] = {"sql": sql, "plan": plan_text(engine.explain(connection, sql))}
            except Exception as error:  # of each client its own
                plans[name] = {"sql": sql, "refused": _client_message(error)}
        if isinstance(engine, IndexReader) and (names := used_indexes(plan.get("plan", "") for plan in plans.values())):
            with suppress(Exception):
                definitions = engine.index_definitions(connection, names)
                plans |= {name: {"plan": definition} for name, definition in definitions.items()}
        if isinstance(engine, DelayedCounters):
            engine.report_counters(connection)
