"""A step: its command, its program with a sampler and collectors beside it, what is wrong with it, and its record."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from stepgrid.collect.counts import EVENT_FILE
from stepgrid.expand.search import with_value
from stepgrid.host.disk import cut_power, disk_full, is_disk_full, met_full_disk, read_only
from stepgrid.host.failure import FOUND_NOTHING, NO_ROWS, StageError, end_of_log, explaining_log
from stepgrid.host.files import open_regular, read_json, write_json
from stepgrid.host.processes.cgroup import ControlGroup, caged
from stepgrid.host.processes.launch import LaunchError, LaunchPlan, check_launch, plan_launch, unloaded_allocator
from stepgrid.host.processes.signals import STARTED
from stepgrid.host.processes.supervision import (
    FIXED,
    Companion,
    MissingError,
    ProcessEnd,
    Program,
    Watch,
    describe_signal,
    environment,
    supervise,
)
from stepgrid.host.processes.timetable import Timetable
from stepgrid.host.sampling import Sampler
from stepgrid.language.files import holds_data
from stepgrid.model.figures import ParseError
from stepgrid.model.plan import Command, PlannedStage, PlannedStep
from stepgrid.model.records import CommandRecord, Json, LaunchRequest, StepRecord, StepSetup, replace
from stepgrid.model.secret_variables import hide_secrets
from stepgrid.model.units import counted, duration, exact_size
from stepgrid.plugins import hit_rate
from stepgrid.plugins.counters import rows_found
from stepgrid.plugins.driver import (
    Context,
    FailureExplainer,
    RefusedError,
    Runner,
    ServerRestarts,
    absolute_inputs,
    forget_password,
)
from stepgrid.plugins.engine import Bookkeeping, EventLog, TreeReader
from stepgrid.plugins.registry import (
    engine,
    input_files,
    parse_step,
    power_setting,
    reading_names,
    require_runner,
    runner,
    server_engine,
)
from stepgrid.plugins.server import ClientEnvironment
from stepgrid.plugins.statements import PLANS_FILE, ClientStatements, named_statements
from stepgrid.plugins.work import FEWEST_ROWS, must_find
from stepgrid.run.attempt import (
    AFTER,
    BEFORE,
    CHANGED,
    STATISTICS_FOLDER,
    Attempt,
    StepFolder,
    attach,
    database_files,
    forget,
    has_changed,
    is_real,
    keep_database_files,
)
from stepgrid.run.client_host import REQUEST, ClientHost, read_end, runs_there, usage_reader, with_figures
from stepgrid.run.collectors import ActiveCollectors, ProbeReading, ProbeRunner, SessionSampler
from stepgrid.run.options import AcceptedOptions
from stepgrid.run.server import keep_statistics, launch_request, read_plans
from stepgrid.run.server_process import LAST_WORDS, ReachedServer, Server, explain_refusal

PACKAGE = Path(__file__).resolve().parents[2]  # of this program, with what it brings along
SHOWN_FILES = 3  # names of a sentence
SYSTEM = tuple(
    f"/{name}/"
    for name in ("bin", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys", "usr", "var/cache")
)

# The timeout of a step: after it the step is stopped, and failed (host/processes/supervision.py)

GRACE = 600.0
FLOOR, FACTOR = 600.0, 10.0  # of a step that does not say how long it takes


def seconds_allowed(command: Command, estimate: float) -> float:
    """The declared duration, or generously more than the estimate, and a grace on top."""
    grace = float(os.environ.get("STEPGRID_GRACE") or GRACE)
    return grace + (max(FLOOR, FACTOR * estimate) if command.duration is None else command.duration)


def refuse_unknown_kinds(stage: PlannedStage) -> None:
    """Refuse a plan of another version; the run that starts the jobs refuses what this one cannot run."""
    for step in stage.steps:
        if runner(step.kind) is None:
            message = f"this version checks and plans steps of kind {step.kind}; it cannot run them yet"
            raise StageError(message, step.name)


class StepEnd(NamedTuple):
    """End of a step's program, and what was observed of it."""

    process: ProcessEnd
    deadline: float
    message: str | None  # what is wrong with it
    probes: Mapping[str, ProbeReading]
    launch: Mapping[str, Json]  # how the program was found to run


class StepRun(Struct, frozen=True):
    """A step of a stage in a folder of its own, with everything about it."""

    attempt: Attempt
    planned: PlannedStep
    folder: Path
    data: Path
    accepted: AcceptedOptions
    server: ReachedServer | None
    value: float | None  # of a search
    replay: bool  # replayed steps are not measured
    history: Callable[[], Sequence[PlannedStep]]  # all steps of its database, from an empty one on, with this one

    @property
    def settings(self) -> Mapping[str, Json]:
        return (self.planned if self.value is None else with_value(self.planned, self.value)).settings

    @property
    def client_host(self) -> ClientHost | None:
        return self.server.client if self.server and runs_there(self.planned.kind) else None

    @property
    def launch(self) -> LaunchRequest:
        """Return `launch`; on another machine its variables alone, as its processors and memory are of this one."""
        request = launch_request(self.attempt.job.store, self.planned)
        return LaunchRequest(env=request.env) if self.client_host else request

    def run(self, timetable: Timetable | None = None) -> StepRecord:
        """Run it, with what runs beside it; return its record. StageError if it failed."""
        try:
            with closing(timetable or Timetable()) as companions:
                return self._run(companions)
        except OSError as error:
            if is_disk_full(error):  # ours was the write that found no room
                raise self._failure(disk_full(self.data, self.folder)) from None
            raise

    def run_beside(self, started: Watch, ending: Watch) -> StepEnd:
        """Run its program beside that of another step, without sampler, collectors and readings of the server."""
        kind, launch = require_runner(self.planned.kind), dict[str, Json]()
        plan, folder = self._write_command(kind), StepFolder(self.folder)
        deadline = seconds_allowed(plan.command, kind.estimate(self.settings))

        def begin(pid: int) -> None:
            started(pid)
            self.attempt.journal(STARTED, name=self.planned.name, pid=pid)
            launch.update(check_launch(pid, self.launch, (lambda: None) if self.client_host else None))

        try:
            with caged(plan.memory) as cage:
                program = self._program(plan, cage)
                companion = self.server.companion if self.server else None
                server = None if companion is None else Companion(companion)
                process = self._take_figures(supervise(program, deadline, begin, ending, server))
        except (MissingError, LaunchError) as error:
            raise StageError(str(error), self.planned.name) from None
        finally:
            if is_real(self.folder):
                forget(self.folder, (*plan.command.secrets, REQUEST))
                forget_password(self.folder)
        self._refuse_planted(folder)
        return StepEnd(process, deadline, None, {}, launch)

    def refuse_beside(self, process: ProcessEnd, deadline: float) -> None:
        """Raise what is wrong with it."""
        if message := self._explain(require_runner(self.planned.kind), process, deadline, ()):
            raise self._failure(message, exited_well=not process.exit)

    def _run(self, companions: Timetable) -> StepRecord:
        kind, launch = require_runner(self.planned.kind), dict[str, Json]()
        plan = self._write_command(kind)
        deadline = seconds_allowed(plan.command, kind.estimate(self.settings))
        probes, statements = self._run_probes(BEFORE), self._statements(kind)
        plans = {BEFORE: self._read_plans(statements)}
        if not isinstance(kind, ServerRestarts):  # counters begin anew with the server
            self._keep_statistics(BEFORE)
        files, began = self._database_files() if self._may_change_unsaid else None, time.time_ns()
        data = None if self.server and self.server.companion is None else self.data  # of one that ran before: elsewhere
        # that of a server that ran before is not our own files'
        device = self.attempt.job.site.device or (self.server.device if self.server else None)
        usage = usage_reader(self.folder) if self.client_host else None
        sampler = Sampler(self.folder / "samples.jsonl", data, device, self.server.pid if self.server else None, usage)
        step_folder = StepFolder(self.folder)
        is_looked_at = self.server and self.planned.measured and not (self.replay or isinstance(kind, ServerRestarts))
        with SessionSampler(self.server.access if self.server and is_looked_at else None) as sessions:
            process = self._supervise(plan, deadline, sampler, launch, companions)
        self._refuse_planted(step_folder)
        keep_database_files(self.folder, self.data, plan.command.keep)
        if self.server and isinstance(kind, ServerRestarts):
            (self.folder / kind.server_folder).mkdir(exist_ok=True)
            keep_database_files(self.folder / kind.server_folder, self.server.folder, ("stderr",))
        if not process.exit:
            self._keep_statistics(AFTER)
            sessions.write(self.folder / STATISTICS_FOLDER)
            if statements:
                plans[AFTER] = self._read_plans(statements)
                with suppress(OSError):  # figures stand without them
                    write_json(self.folder / STATISTICS_FOLDER / PLANS_FILE, plans, durable=False)
            self._keep_events(process)
        companions.finish()
        failure = companions.failure
        message = None if failure else self._explain(kind, process, deadline, plan.command.keep)
        lost = self._lost_server(bool(message or failure))
        if failure and not lost:
            raise failure
        if not (message or lost):
            probes |= self._run_probes(AFTER)
        self._refuse_planted(step_folder)
        end = StepEnd(process, deadline, lost.message if lost else message, probes, launch)
        record = describe(self.planned, end, self.accepted.dropped, self.value)
        warnings = [CHANGED] if files is not None and has_changed(files, self._database_files(), began) else []
        if sampler.open_files and (warning := self._unnamed_files(sampler.open_files.paths)):
            warnings.append(warning)
        if self.client_host and self.planned.measured:
            warnings.extend(self.client_host.warnings(self.attempt, self.folder))
        if warnings:
            record = replace(record, warnings=(*record.warnings, *warnings))
        write_json(self.folder / "step.json", record, durable=False)
        self.attempt.journal(
            "step ended", **record.to_json(), sampler_cpu=sampler.cpu_seconds, sampler_error=sampler.error
        )
        if lost:
            raise lost
        if message:
            raise self._failure(message, exited_well=not process.exit)
        return record

    def _write_command(self, kind: Runner) -> LaunchPlan:
        """Make the command; write its record, in which secrets are hidden, and its files."""
        plan = self.make_command(kind)
        command = plan.command
        client: object = engine(self.server.access.engine) if self.server else None
        secrets = client.secret_variables if isinstance(client, ClientEnvironment) else ()
        env = hide_secrets({name: "***" if name in secrets else value for name, value in command.env.items()})
        argv, complete = tuple(command.argv), environment(plan.program, env)
        if host := self.client_host:
            argv = tuple(map(host.hide_address, argv))
            env = {name: host.hide_address(value) for name, value in env.items()}
            complete = {**FIXED, **env, **host.variables}
        record = CommandRecord(argv=argv, env=env, environment=complete, launch=plan.public_record)
        write_json(self.folder / "command.json", record, durable=False)
        attach(self.folder, {**self.planned.files, **command.files})
        return plan

    def make_command(self, kind: Runner) -> LaunchPlan:
        try:
            context = self._context()
            if self.client_host and context.server:
                context = context._replace(server=self.client_host.access(context.server), server_pid=None)
            return plan_launch(kind.command(self.settings, self.accepted.options, context), self.launch)
        except (RefusedError, LaunchError) as error:
            raise StageError(str(error), self.planned.name) from None
        except (LookupError, ValueError) as error:
            message = f"no {self.planned.kind} command can be made: {error}"
            raise StageError(message, self.planned.name) from None

    def _program(self, plan: LaunchPlan, cage: ControlGroup) -> Program:
        if self.client_host:
            return self.client_host.program(self.attempt.job, self.planned, plan, self.folder)
        return Program(plan.argv, environment(plan.program, plan.command.env), self.folder, cage=cage)

    def _take_figures(self, process: ProcessEnd) -> ProcessEnd:
        return with_figures(process, read_end(self.folder)) if self.client_host else process

    def _context(self) -> Context:
        job, planned = self.attempt.job, self.planned
        client = job.installed_build(planned.client) if planned.client else None
        return Context(
            programs={**job.engine.programs, **client.programs} if client else job.engine.programs,
            version=job.engine.version,
            data=self.data,
            folder=self.folder.resolve(),
            seed=planned.seed,
            server=self.server.access if self.server else None,
            server_pid=self.server.pid if self.server else None,
            client_version=client.version if client else None,
            inputs=absolute_inputs(planned.setup),
            cache=job.store.cache(planned.kind),
        )

    def _run_probes(self, when: str) -> dict[str, ProbeReading]:
        return ProbeRunner(self.planned.name, self._context(), FLOOR, self.server).run(self.planned.setup, when)

    def _keep_statistics(self, when: str) -> None:
        """Keep those of the server, or of the files of an engine that is none."""
        if self.replay:
            return
        if self.server:
            if server := server_engine(self.server.access.engine):
                keep_statistics(server, self.server, self.folder, when)
            return
        embedded = engine(self.attempt.job.build.engine)
        if when == BEFORE and isinstance(embedded, TreeReader):
            # what cannot be read or kept fails no step: it is missing
            with suppress(OSError, ValueError):
                if levels := embedded.levels(self.data):
                    (self.folder / STATISTICS_FOLDER).mkdir()
                    write_json(self.folder / STATISTICS_FOLDER / f"{BEFORE}.json", {"levels": levels}, durable=False)

    def _statements(self, kind: Runner) -> Mapping[str, str]:
        """Name the statements whose query plans are kept: those that are measured."""
        if self.replay or self.server is None or not (self.planned.measured and isinstance(kind, ClientStatements)):
            return {}
        return named_statements(kind.statements(self.settings, self.planned.files, self.server.access.engine))

    def _read_plans(self, statements: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
        server = server_engine(self.server.access.engine) if self.server and statements else None
        return read_plans(server, self.server, statements) if self.server and server else {}

    def _keep_events(self, process: ProcessEnd) -> None:
        """Keep what the engine's log says of these seconds; where it cannot be read, there is nothing of it."""
        logging: object = engine(self.server.access.engine if self.server else self.attempt.job.build.engine)
        if self.replay or not isinstance(logging, EventLog):
            return
        name, server = logging.event_log, self.server
        path = server.folder / "stderr" if server and not name else self.data / name
        began, ended = (datetime.fromisoformat(text).timestamp() for text in (process.started, process.ended))
        with suppress(OSError), os.fdopen(open_regular(path), encoding="utf-8", errors="replace") as log:
            rows = [
                event._replace(seconds=min(event.seconds, ended - event.began))
                for event in logging.events(log)
                if event.began < ended and event.began + event.seconds > began
            ]
            (self.folder / STATISTICS_FOLDER).mkdir(exist_ok=True)
            write_json(self.folder / STATISTICS_FOLDER / EVENT_FILE, {"events": rows}, durable=False)

    def _supervise(
        self, plan: LaunchPlan, deadline: float, sampler: Sampler, launch: dict[str, Json], companions: Timetable
    ) -> ProcessEnd:
        """Run the program to its end; `launch` gets how it was found to run."""
        companion = self._companion(require_runner(self.planned.kind), sampler)
        try:
            with caged(plan.memory) as cage, self._collecting() as collectors:
                watch = self._watch_start(sampler, launch, collectors, cage if plan.scoped else None)
                program = self._program(replace(plan, gate=plan.gate or collectors.attach), cage)
                end_collectors = collectors.ending(sampler.stop)

                def started(pid: int) -> None:
                    watch(pid)
                    companions.start(pid)

                def ending(pid: int) -> None:
                    companions.end_main(pid)
                    end_collectors(pid)

                process = supervise(program, deadline, started, ending, companion)
                process = replace(process, seconds=process.seconds - collectors.waited, waited=collectors.waited)
                return self._take_figures(process)
        except (MissingError, LaunchError) as error:
            raise StageError(str(error), self.planned.name) from None
        finally:
            sampler.close()
            if is_real(self.folder):  # else nothing of ours is there
                forget(self.folder, (*plan.command.secrets, REQUEST))
                forget_password(self.folder)

    def _companion(self, kind: Runner, sampler: Sampler) -> Companion | None:
        server = self.server
        if server is None or server.companion is None:
            return None
        if not (isinstance(server, Server) and isinstance(kind, ServerRestarts)):
            return Companion(server.companion)

        def restart() -> int:
            cuts_power = power_setting(self.planned.kind, self.settings) is not None
            pid = server.restart(partial(cut_power, self.data) if cuts_power else None)
            sampler.follow_server(pid)
            return pid

        return Companion(server.companion, restart)

    def _watch_start(
        self, sampler: Sampler, launch: dict[str, Json], collectors: ActiveCollectors, scope: ControlGroup | None
    ) -> Watch:
        waits = collectors.attach or self.client_host is not None  # until all is ready here

        def started(pid: int) -> None:
            self.attempt.journal(STARTED, name=self.planned.name, pid=pid)  # its group: see survivors

            def attach() -> None:
                if collectors.attach:
                    collectors.start_and_attach(pid)
                sampler.start(pid)  # at the moment when the program begins

            if not waits:
                sampler.start(pid)
            try:
                launch.update(check_launch(pid, self.launch, attach if waits else None))
            except LaunchError:
                sampler.stop(pid)
                raise
            if scope:
                scope.follow(pid)
            if not collectors.attach:
                collectors.start(pid)

        return started

    def _collecting(self) -> AbstractContextManager[ActiveCollectors]:
        setup = StepSetup() if self.replay else self.planned.setup
        server = self.server.pid if self.server else None
        if setup.collectors and self.server and server is None:
            warning = f"{self.planned.name}: no collector looked on: the server's process is not known"
            self.server.warnings.append(warning)
            setup = StepSetup()

        def journal(name: str, pid: int) -> None:
            self.attempt.journal(STARTED, name=f"collector {name}", pid=pid)

        return closing(ActiveCollectors(setup.collectors, self._context(), self.attempt.job.site, server, journal))

    def _refuse_planted(self, step_folder: StepFolder) -> None:
        """Show no log: it may be any file by now."""
        if fault := step_folder.fault():
            raise StageError(fault, self.planned.name)

    def _explain(self, kind: Runner, process: ProcessEnd, deadline: float, logs: Sequence[str]) -> str | None:
        """Say what is wrong. The parser is a check: output that cannot be read later is a failure now."""
        if process.out_of_memory:  # a shell may go on when its child was killed, and end with exit status 0
            limit = self.launch.memory
            allowed = f"`launch.memory` allows {exact_size(limit)}" if limit else None
            cause = allowed or "no `launch.memory`: the host's memory counts"
            return f"it ran out of memory, and the kernel killed one of its processes: {cause}"
        if self.client_host and (message := self.client_host.explain(process, read_end(self.folder))):
            return message
        if process.exit or process.overdue:
            message = explain_end(self, kind, process, deadline, logs)
            return message + (self.client_host.missing_file(read_end(self.folder)) if self.client_host else "")
        return unloaded_allocator(self.launch, self.folder / "stderr") or self._refuse_output(kind)

    def _refuse_output(self, kind: Runner) -> str | None:
        """Say why it cannot be read, or measures something else."""
        try:
            metrics = parse_step(kind, self.folder, self.settings).metrics
        except ParseError as error:
            if met_full_disk(self.folder, self.data):
                return disk_full(self.data, self.folder)
            is_last = self.planned is self.attempt.job.stage.steps[-1] and self.value is None and not self.replay
            if not (is_last and reading_names(self.planned.kind)):  # else a changed spec can read it in another way
                return str(error)
            self.attempt.unread = self._failure(str(error), exited_well=True)
            return None
        except OSError as error:
            if is_disk_full(error):
                raise
            return f"its output cannot be read: {error}"
        if metrics.get(hit_rate.FOUND) != 0:
            return self._refuse_misses(metrics.get("operations"))
        expected = hit_rate.expected_percent(self.history())[-1]
        step = replace(self.planned, settings=self.settings)
        if not hit_rate.is_zero(metrics, expected, step):
            return None
        return f"{FOUND_NOTHING}; {expected:.3g} % were expected" if expected else FOUND_NOTHING

    def _refuse_misses(self, operations: float | None) -> str | None:
        """Say that a step of reads alone found no row on its server."""
        if self.replay or not operations or not must_find(self.planned.name, self.planned.kind, self.settings):
            return None
        paths = (self.folder / STATISTICS_FOLDER / f"{when}.json" for when in (BEFORE, AFTER))
        before, after = (read_json(path).get("counters") or {} for path in paths)
        rows = rows_found({name: after[name] - count for name, count in before.items() if name in after}, operations)
        if rows is None or rows >= FEWEST_ROWS:
            return None
        return f"{NO_ROWS}: {operations:,.0f} operations found {counted(round(rows * operations), 'row')}"

    def _lost_server(self, failed: bool) -> StageError | None:
        """Blame the server that its client lost: the client says so in its own way, often before the server is gone."""
        if self.server and self.server.gone(LAST_WORDS if failed else 0.0):
            return self.server.failure(" while the step ran", self.planned.name)
        return self.server.crash(self.planned.name) if self.server else None

    def _unnamed_files(self, paths: Iterable[str]) -> str | None:
        """Name files outside the build, the database, the store and this program."""
        job, programs = self.attempt.job, self._context().programs
        words = [word for argv in programs.values() for word in argv if word.startswith("/")]
        folders = [job.store.root, self.data, PACKAGE, sys.prefix, sys.base_prefix]
        return warn_of_unnamed_files(paths, self.planned, [*words, *map(str, folders)])

    @property
    def _may_change_unsaid(self) -> bool:
        """Tell whether a program of the spec's author may change a database that is used after it.

        A server writes at any time, and of the other kinds it is known what they do."""
        stage, planned = self.attempt.job.stage, self.planned
        is_own_program = input_files(planned.kind) is not None and self.server is None
        is_used_later = bool(stage.children) or planned is not stage.steps[-1]
        return is_own_program and is_used_later and not (planned.mutates or self.replay)

    def _database_files(self) -> Mapping[str, tuple[int, int]]:
        embedded: object = engine(self.attempt.job.build.engine)
        return database_files(self.data, embedded.bookkeeping if isinstance(embedded, Bookkeeping) else ())

    def _failure(self, message: str, exited_well: bool = False) -> StageError:
        log = explaining_log(self.folder)
        return StageError(message, self.planned.name, log, end_of_log(log), exited_well=exited_well)


def explain_end(step: StepRun, kind: Runner, process: ProcessEnd, deadline: float, logs: Sequence[str]) -> str:
    """Say why a program failed. `logs`: files in its folder that came out of its database."""
    folder, data, server = step.folder, step.data, step.server
    # a client may only be told that its table is full
    if met_full_disk(folder, data, logs) or (server and met_full_disk(server.folder, data)):
        return disk_full(data, folder)
    if message := read_only(folder, data):
        return message
    if process.overdue:
        halted = "its program" if process.halted else "the server" if server and server.halted else ""
        cause = f"; {halted} was halted (state T), by SIGSTOP or a debugger" if halted else ""
        return f"it did not end within {deadline:g} s, and was stopped{cause}"
    if server and (message := explain_refusal(server, folder)):
        return message
    if process.exit < 0:
        return f"it was killed by {describe_signal(-process.exit)}"
    complaint = kind.complaint(folder) if isinstance(kind, FailureExplainer) else None
    return complaint or f"it ended with exit status {process.exit}"


def describe(step: PlannedStep, end: StepEnd, dropped: Iterable[str], value: float | None = None) -> StepRecord:
    """Make the record of a step, step.json; `value` was tried by a search."""
    process, probes = end.process, end.probes
    warning = (
        f"the host was suspended for {duration(process.suspended)} while the step ran: "
        "`stepgrid redo` measures it again"
    )
    return StepRecord(
        name=step.name,
        kind=step.kind,
        status="failed" if end.message else "done",
        exit=process.exit,
        overdue=process.overdue,
        started=process.started,
        ended=process.ended,
        seconds=process.seconds,
        waited=process.waited,
        user=process.user,
        system=process.system,
        max_rss=process.max_rss,
        deadline=end.deadline,
        dropped=tuple(dropped),
        probes={name: probe.seconds for name, probe in probes.items()},
        counters={name: probe.counters for name, probe in probes.items() if probe.counters},
        launch=end.launch,
        client=step.client,
        search=value,
        suspended=process.suspended or None,
        warnings=(warning,) if process.suspended else (),
    )


def warn_of_unnamed_files(paths: Iterable[str], step: PlannedStep, known_paths: Iterable[str]) -> str | None:
    """Warn of files that a step had open and that are no part of its identity."""
    named = [Path(path) for path in (*step.setup.paths.values(), *known_paths)]
    roots = [os.path.realpath(path).rstrip("/") for path in named]  # with what is below a folder
    files = sorted(
        path
        for path in paths
        if not path.startswith(SYSTEM)
        and not any(path == root or path.startswith(f"{root}/") for root in roots)
        and holds_data(path)
    )
    if not files:
        return None
    names = ", ".join(files[:SHOWN_FILES])
    names += f" and {len(files) - SHOWN_FILES} more" if len(files) > SHOWN_FILES else ""
    hint = "; list them under `files:`" if input_files(step.kind) else ""
    return f"it had files open that nothing names, whose changes go unnoticed: {names}{hint}"
