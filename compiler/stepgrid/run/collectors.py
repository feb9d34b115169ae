"""Collectors beside a step, which end with it and then draw; probes, run and timed before and after it; and looks at a
server's sessions."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Self

from msgspec import Struct

from stepgrid.collect.counts import LOOKS, SESSIONS, SESSIONS_FILE
from stepgrid.host.failure import StageError, end_of_log, explaining_log
from stepgrid.host.files import write_json
from stepgrid.host.processes import supervision
from stepgrid.host.processes.supervision import (
    Companion,
    MissingError,
    Program,
    Watch,
    describe_exit,
    environment,
    supervise,
)
from stepgrid.host.sampling import SELDOM, ProcessGroup
from stepgrid.model.plan import Command, listed_texts
from stepgrid.model.records import CommandRecord, Json, ProbeAnswer, ProbeRequest, StepSetup, convert_record
from stepgrid.model.site import Site
from stepgrid.plugins import driver
from stepgrid.plugins.collector import COMMAND, AskingCollector, AttachingCollector, Collector, DrawingCollector, Target
from stepgrid.plugins.driver import Context, command_words
from stepgrid.plugins.registry import COLLECTORS, DRIVERS, engine, server_engine
from stepgrid.plugins.server import Access, ClientEnvironment, Connection, SessionWaits, counter_differences
from stepgrid.run.attempt import BEFORE, COLLECTORS_FOLDER, PROBES_FOLDER, attach, describe_failure, is_real, last_line
from stepgrid.run.server_process import LAST_WORDS, ReachedServer

RECORD = "collector.json"
TO_END = 30.0  # seconds between SIGINT and worse: what was counted is still to be written
TO_ATTACH = 5.0  # seconds that the step's program waits for collectors that follow its threads
TO_DRAW = 600.0  # seconds for one drawing
PERIOD = 0.002
GOOD = (0, -signal.SIGINT, -signal.SIGTERM, 128 + signal.SIGINT, 128 + signal.SIGTERM)


class ActiveCollectors(Struct):
    """Collectors of one step: whatever fails of them is a warning, never the step's failure.

    `server`: the process group of the engine, where the step is only its client."""

    declarations: Sequence[Mapping[str, Json]]
    context: Context
    site: Site
    server: int | None
    journal: Callable[[str, int], None]  # takes a name and a process group
    waited: float = 0.0  # seconds that the step's program waited for them
    _running: list[_Running] = []

    @property
    def attach(self) -> bool:
        """Tell whether the step's program must wait for collectors that observe all of it."""
        return any(isinstance(_kind(entry), AttachingCollector) for entry in self.declarations)

    def start(self, pid: int) -> None:
        """Start them beside the step's program."""
        engine, client = (pid, None) if self.server is None else (self.server, pid)
        for declaration in self.declarations:
            self._start(declaration, engine, client)

    def start_and_attach(self, pid: int) -> None:
        began = time.monotonic()
        self.start(pid)
        until = began + TO_ATTACH
        while time.monotonic() < until and not all(collector.attached() for collector in self._running):
            time.sleep(PERIOD)
        self.waited = time.monotonic() - began

    def ending(self, watch: Watch) -> Watch:
        """Extend a watch of the program's end: all are interrupted at once, so that the next step need not wait."""

        def end(pid: int) -> None:
            watch(pid)
            for collector in self._running:
                with suppress(ProcessLookupError):
                    os.killpg(collector.process.pid, signal.SIGINT)
            while self._running:
                self._running[0].end()
                del self._running[0]

        return end

    def close(self) -> None:
        """Kill those that still run."""
        for collector in self._running:
            supervision.kill(collector.process.pid)
            with suppress(ChildProcessError):  # stopped while it was being fetched
                supervision.reap(collector.process)

    def _start(self, declaration: Mapping[str, Json], engine: int, client: int | None) -> None:
        folder = self.context.folder / COLLECTORS_FOLDER / str(declaration["name"])
        if not is_real(folder):  # the step's program began before: the step fails when it has ended
            return
        folder.mkdir(parents=True)
        target = Target(tuple(sorted(ProcessGroup(engine).members())) or (engine,), folder, client)
        try:
            words, env = self._command(declaration, target, engine)
            public_env = hide_client_secrets(self.context, env)
            record = CommandRecord(argv=tuple(words), environment=public_env, pids=tuple(target.pids), client=client)
            write_json(folder / COMMAND, record, durable=False)
            process = supervision.spawn(Program(words, env, folder))
        except (LookupError, ValueError) as error:
            note(folder, declaration, str(error.args[0]))
        except MissingError as error:
            note(folder, declaration, str(error))
        else:
            self.journal(str(declaration["name"]), process.pid)
            self._running.append(_Running(declaration, folder, process))

    def _command(
        self, declaration: Mapping[str, Json], target: Target, engine: int
    ) -> tuple[Sequence[str], dict[str, str]]:
        kind, context = _kind(declaration), self.context._replace(folder=target.folder)
        asking: object = kind
        if isinstance(asking, AskingCollector):
            command = driver.server_request(asking.module, context, declaration)
            attach(target.folder, command.files)
            return command.argv, environment(command.argv[0], command.env)
        if kind is not None:
            words = kind.argv(self.site.tool(kind.tool), declaration, target)
            return words, environment(words[0], {})
        command = client_command(listed_texts(declaration["command"]), context, {"pid": str(engine)})
        return command.argv, environment(command.argv[0], command.env)


def client_command(words: Sequence[str], context: Context, extra: Mapping[str, str] | None = None) -> Command:
    """Make a command that finds the server as a step of kind command does: by its words and its environment."""
    server = context.server
    names = {**(server.placeholders() if server else {}), **(extra or {})}
    client: object = engine(server.engine) if server else None
    env = client.client_environment(server) if server and isinstance(client, ClientEnvironment) else {}
    return Command(command_words(words, {}, context, names), env)


def hide_client_secrets(context: Context, env: Mapping[str, str]) -> dict[str, str]:
    client: object = engine(context.server.engine) if context.server else None
    secrets = client.secret_variables if isinstance(client, ClientEnvironment) else ()
    return {name: "***" if name in secrets else value for name, value in env.items()}


class _Running(Struct, frozen=True):
    declaration: Mapping[str, Json]
    folder: Path
    process: subprocess.Popen[bytes]

    def attached(self) -> bool:
        kind: object = _kind(self.declaration)
        ended = supervision.exit_status(self.process.pid) is not None
        return ended or not isinstance(kind, AttachingCollector) or kind.attached(self.process.pid)

    def end(self) -> None:
        pid = self.process.pid
        overdue = supervision.wait(pid, TO_END) is None and not supervision.stop(pid)
        supervision.kill(pid)  # what it left in its group
        status, _ = supervision.reap(self.process)
        if not is_real(self.folder):
            return
        driver.forget_password(self.folder)
        warning = None if status in GOOD else f"it {describe_exit(status)}{last_line(self.folder)}"
        if overdue:
            warning = f"it did not end within {TO_END:g} s of SIGINT, and was killed"
        note(self.folder, self.declaration, warning, status)


def _kind(declaration: Mapping[str, Json]) -> Collector | None:
    """Look up the plug-in; None for a command of the spec."""
    return None if (name := declaration.get("collector")) is None else COLLECTORS.get(str(name))


def note(folder: Path, declaration: Mapping[str, Json], warning: str | None, status: int | None = None) -> None:
    """Write what became of a collector: collect reads its warning."""
    write_json(folder / RECORD, {**declaration, "exit": status, "warning": warning}, durable=False)


# Drawings of what collectors wrote, made when the steps of a stage are over: they take time that belongs to none


def draw(folder: Path, site: Site) -> None:
    """Draw for the collectors of an attempt that ended well."""
    for path in sorted(folder.resolve().glob(f"steps/*/{COLLECTORS_FOLDER}/*/{RECORD}")):
        record = json.loads(path.read_text(encoding="utf-8"))
        collector = None if record["warning"] else _kind(record)
        kind: object = collector
        if collector is not None and isinstance(kind, DrawingCollector):
            warning = _draw(kind, site.tool(collector.tool), path.parent)
            shutil.rmtree(path.parent / "script", ignore_errors=True)
            if warning:
                write_json(path, {**record, "warning": warning}, durable=False)


def _draw(kind: DrawingCollector, tool: str, folder: Path) -> str | None:
    """Return why there is no drawing."""
    script = folder / "script"
    script.mkdir()
    words = kind.script(tool, folder)
    try:
        ended = supervise(Program(words, environment(words[0], {}), script), TO_DRAW)
    except MissingError as error:
        return str(error)
    if failure := describe_failure(ended, TO_DRAW):
        return f"{' '.join(words[:2])} {failure}{last_line(script)}"
    return kind.draw(script / "stdout", folder)


# Probes of a step: commands and SQL, run and timed before or after it; what they saw is kept in the step's record

SQL = "sql"  # the kind whose program also reads counters


class ProbeReading(Struct, frozen=True):
    seconds: float
    counters: Mapping[str, float] = {}  # by how much they grew


class ProbeRunner(Struct, frozen=True):
    step: str
    context: Context
    deadline: float
    server: ReachedServer | None = None

    def run(self, setup: StepSetup, when: str) -> dict[str, ProbeReading]:
        """Run the probes of one step in their order: name -> what it saw."""
        return {probe.name: self._run(probe, when) for probe in (setup.before if when == BEFORE else setup.after)}

    def _run(self, probe: ProbeRequest, when: str) -> ProbeReading:
        name, folder = probe.name, self.context.folder / PROBES_FOLDER / f"{when}-{probe.name}"
        counters = (probe.counters,) if isinstance(probe.counters, str) else probe.counters
        if probe.sql is not None:
            reading = self._run_sql(probe.sql, counters, name, folder)
        else:
            reading = self._run_command(probe.command, counters, name, folder)
        if not is_real(folder):
            raise StageError(f"probe {name}: it replaced its folder by a link", self.step)
        record = {"seconds": reading.seconds, **({"counters": dict(reading.counters)} if counters else {})}
        write_json(folder / "probe.json", {"name": name, "when": when, **record}, durable=False)
        return reading

    def _run_sql(self, statement: str, counters: Sequence[str], name: str, folder: Path) -> ProbeReading:
        """Time the statement, without the connection."""
        answer = self._ask_server([statement], counters, name, folder)
        differences = counter_differences(answer.before, answer.after)
        return ProbeReading(answer.seconds, differences)

    def _run_command(self, words: Sequence[str], counters: Sequence[str], name: str, folder: Path) -> ProbeReading:
        try:
            command = client_command(words, self.context)
        except LookupError as error:
            raise StageError(f"probe {name}: {error.args[0]}", self.step) from None
        if not counters:
            return ProbeReading(self._supervise(command, name, folder))
        before = self._ask_server([], counters, name, folder / "counters-before").before
        seconds = self._supervise(command, name, folder)
        after = self._ask_server([], counters, name, folder / "counters-after").before
        return ProbeReading(seconds, counter_differences(before, after))

    def _ask_server(self, statements: Sequence[str], counters: Sequence[str], name: str, folder: Path) -> ProbeAnswer:
        """Run statements between two readings of counters; return all that the client printed."""
        request = {"sql": list(statements), "timeout": self.deadline, "counters": list(counters)}
        self._supervise(driver.server_request(DRIVERS.get(SQL).__module__, self.context, request), name, folder)
        printed: dict[str, object] = {}
        for line in (folder / "stdout").read_text(encoding="utf-8").splitlines():
            printed |= json.loads(line)  # rows may hold numbers that are none in JSON
        answer = convert_record(printed, ProbeAnswer)
        for counter in answer.missing if self.server else ():
            warning = f"probe {name}: the server has no counter and no table `{counter}`"
            if self.server and warning not in self.server.warnings:
                self.server.warnings.append(warning)
        return answer

    def _supervise(self, command: Command, name: str, folder: Path) -> float:
        """Run a program to its end; return its wall time."""
        folder.mkdir(parents=True)
        env = environment(command.argv[0], command.env)
        public_env = hide_client_secrets(self.context, env)
        write_json(
            folder / "command.json", CommandRecord(argv=tuple(command.argv), environment=public_env), durable=False
        )
        attach(folder, command.files)
        pid = self.server.companion if self.server else None
        companion = None if pid is None else Companion(pid)
        try:
            ended = supervise(Program(command.argv, env, folder), self.deadline, companion=companion)
        except MissingError as error:
            raise StageError(f"probe {name}: {error}", self.step) from None
        failure = describe_failure(ended, self.deadline)
        if failure is None:
            return ended.seconds
        if self.server and self.server.gone(LAST_WORDS):
            raise self.server.failure(f" while the probe {name} ran", self.step)
        log = explaining_log(folder)
        raise StageError(f"probe {name} {failure}", self.step, log, end_of_log(log))


# What a server's sessions wait for, while a step's clients are at work: a statement some times a second

LATEST = 2.0  # seconds that the end of a step waits for the last answer
ASKING = 0.01  # of a processor, at most, for the server and its client together


class SessionSampler:
    """Look for as long as it is entered; whatever fails of it leaves fewer looks.

    Looks from the first that meets a session at work to the last of these count: not what collectors take."""

    def __init__(self, access: Access | None) -> None:
        """`access`: None where nothing is looked at."""
        self._access = access
        self._looks, self._idle_looks, self._sessions = 0, 0, Counter[str]()
        self._over, self._thread = Event(), Thread(daemon=True)

    def __enter__(self) -> Self:
        engine: object = server_engine(self._access.engine) if self._access else None
        if self._access and isinstance(engine, SessionWaits):
            with suppress(Exception):  # of each client its own
                connection = engine.connect_aside(self._access)
                look = partial(engine.session_waits, connection, self._access)
                self._thread = Thread(target=self._run, args=(connection, look), daemon=True)
                self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread.ident:
            self._thread.join(LATEST)

    def write(self, folder: Path) -> None:
        """Keep the looks; nothing where the server does not tell it."""
        if self._looks:
            looks = {LOOKS: self._looks, SESSIONS: dict(self._sessions)}
            with suppress(OSError):  # figures stand without them
                write_json(folder / SESSIONS_FILE, looks, durable=False)

    def _run(self, connection: Connection, look: Callable[[], Mapping[str, int]]) -> None:
        with suppress(Exception), closing(connection):
            while not self._over.is_set():
                before = time.thread_time()
                if sessions := look():
                    self._looks += self._idle_looks + 1
                    self._idle_looks = 0
                    self._sessions.update(sessions)
                elif self._looks:
                    self._idle_looks += 1
                # the server takes about as much to answer as its client to ask
                self._over.wait(max(SELDOM, 2 * (time.thread_time() - before) / ASKING))
