"""The steps of a stage, in order, each in a folder of its own with everything about it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, cast

from stepgrid.host.disk import disk_full, is_disk_full
from stepgrid.host.failure import StageError, end_of_log, explaining_log
from stepgrid.host.files import write_json
from stepgrid.host.processes.cgroup import ControlGroup, caged
from stepgrid.host.processes.launch import LaunchError, LaunchPlan, check_launch, plan_launch, unloaded_allocator
from stepgrid.host.processes.signals import MARK, STARTED, kill_marked
from stepgrid.host.processes.supervision import MissingError, ProcessEnd, Program, Watch, environment, supervise
from stepgrid.host.sampling import Sampler
from stepgrid.model.plan import PlannedStage, PlannedStep
from stepgrid.model.search import with_value
from stepgrid.plugins.driver import Context, RefusedError, Runner, forget_password
from stepgrid.plugins.engine import TreeReader
from stepgrid.plugins.registry import engine, require_runner, runner, server_engine
from stepgrid.plugins.server import ClientEnvironment
from stepgrid.run import axis_search, inputs, progress, step_record, step_timeout
from stepgrid.run.accepted_options import AcceptedOptions
from stepgrid.run.attempt import Attempt
from stepgrid.run.axis_search import Done
from stepgrid.run.collector_drawings import draw
from stepgrid.run.collectors import ActiveCollectors, collecting
from stepgrid.run.probes import AFTER, BEFORE, ProbeReading, ProbeRunner
from stepgrid.run.server import server_statistics
from stepgrid.run.server.external_server import ExternalServer
from stepgrid.run.server.process import LAST_WORDS
from stepgrid.run.server.server_handle import ReachedServer
from stepgrid.run.server.service import serving
from stepgrid.run.step_files import StepFolder, attach, forget, is_real, keep

PACKAGE = Path(__file__).resolve().parents[2]  # of this program, with what it brings along


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the steps of a stage run, and with what."""

    attempt: Attempt
    stage: PlannedStage
    folder: Path  # the attempt's, or that of a replay in it
    data: Path
    replay: bool = False

    def run(self, accepted: list[AcceptedOptions]) -> list[Mapping[str, Any]]:
        refuse_what_cannot_run(self.stage)
        inputs.refuse_changed(self.attempt.job.store, self.stage, inputs.BEFORE)
        try:
            with serving(self.attempt, self.stage, self.folder, self.data, accepted) as server:
                done: list[Done] = []
                for index, options in enumerate(accepted):
                    done.append(self._step(index, options, server, done))
        finally:
            kill_marked(MARK, self.attempt.folder)  # daemons, where no cgroup holds them
        inputs.refuse_changed(self.attempt.job.store, self.stage, inputs.MEANWHILE)
        draw(self.folder, self.attempt.job.site)
        records = [each.record for each in done]
        return [server.noted(record) for record in records] if server else records

    def until(self, step: PlannedStep) -> list[PlannedStep]:
        """What is done to its database, from an empty one on, up to this step of the stage."""
        before = takewhile(lambda stage: stage.id != self.stage.id, self.attempt.job.ancestors())
        steps = self.stage.steps
        return [*(each for stage in before for each in stage.steps), *steps[: steps.index(step) + 1]]

    def _step(self, index: int, accepted: AcceptedOptions, server: ReachedServer | None, done: Sequence[Done]) -> Done:
        step = self.stage.steps[index]
        value = axis_search.chosen(step, done)
        folder = self.folder / "steps" / f"{index}-{re.sub(r'[^A-Za-z0-9_.+=,@-]', '_', step.name)}"
        folder.mkdir(parents=True)
        about = {"kind": step.kind, "index": index, "of": len(self.stage.steps), "declared": declared(step)}
        self.attempt.journal("step", name=step.name, folder=str(folder.relative_to(self.attempt.folder)), **about)
        with nullcontext() if self.replay else progress.step(self.stage, index, folder):
            return Done(step, _Step(self, step, folder, accepted, server, value).run(), folder)


def refuse_what_cannot_run(stage: PlannedStage) -> None:
    """A plan of another version: the run that starts the jobs refuses what this one cannot run."""
    for step in stage.steps:
        if runner(step.kind) is None:
            said = f"this version checks and plans steps of kind {step.kind}; it cannot run them yet"
            raise StageError(said, step.name)


@dataclass(frozen=True, slots=True)
class _Step:
    bench: Bench
    step: PlannedStep
    folder: Path
    accepted: AcceptedOptions
    server: ReachedServer | None
    value: int | None = None  # of a search

    @property
    def settings(self) -> Mapping[str, Any]:
        return (self.step if self.value is None else with_value(self.step, self.value)).settings

    def run(self) -> Mapping[str, Any]:
        try:
            return self._run()
        except OSError as error:
            if is_disk_full(error):  # ours was the write that found no room
                raise self._failure(disk_full(self.bench.data, self.folder)) from None
            raise

    def _run(self) -> Mapping[str, Any]:
        kind = require_runner(self.step.kind)
        done, seen = self._command(kind), dict[str, Any]()
        deadline = step_timeout.seconds_allowed(done.command, kind.estimate(self.settings))
        timed = self._probe(BEFORE)
        beside = self.server.pid if self.server else None
        data = None if isinstance(self.server, ExternalServer) else self.bench.data
        self._statistics(server_statistics.BEFORE)
        sampler = Sampler(self.folder / "samples.jsonl", data, self._device, beside)
        step_folder = StepFolder(self.folder)
        ended = self._supervised(done, deadline, sampler, seen, step_folder)
        self._refuse_planted(step_folder)
        keep(self.folder, self.bench.data, done.command.keep)
        if not ended.exit:
            self._statistics(server_statistics.AFTER)
        message = self._wrong(kind, ended, deadline, done.command.keep)
        lost = self._lost(bool(message))
        timed |= {} if message or lost else self._probe(AFTER)
        self._refuse_planted(step_folder)
        dropped, said = self.accepted.dropped, lost.message if lost else message
        record = step_record.record(self.step, ended, deadline, said, dropped, timed, seen, self.value)
        if sampler.open_files and (note := self._unnamed_files(sampler.open_files.paths)):
            record = {**record, "warnings": [*record.get("warnings", ()), note]}
        write_json(self.folder / "step.json", record, durable=False)
        self.bench.attempt.journal("step ended", **record, sampler_cpu=sampler.cpu_seconds, sampler_error=sampler.error)
        if lost:
            raise lost
        if message:
            raise self._failure(message, exited_well=not ended.exit)
        return record

    def _unnamed_files(self, paths: Iterable[str]) -> str | None:
        """Files of the build, the database, the store and this program are known."""
        job, context = self.bench.attempt.job, self._context()
        programs = [word for argv in context.programs.values() for word in argv if word.startswith("/")]
        folders = [job.store.root, self.bench.data, PACKAGE, sys.prefix, sys.base_prefix]
        return inputs.unnamed(paths, self.step, [*programs, *map(str, folders)])

    def _refuse_planted(self, step_folder: StepFolder) -> None:
        """Show no log: it may be any file by now."""
        if fault := step_folder.fault():
            raise StageError(fault, self.step.name)

    def _supervised(
        self, done: LaunchPlan, deadline: float, sampler: Sampler, seen: dict[str, Any], step_folder: StepFolder
    ) -> ProcessEnd:
        """`seen`: gets how the program was found to run."""
        beside, env = self.server.ours if self.server else None, environment(done.command.env)
        try:
            with caged(done.memory) as cage, self._collecting() as collectors:
                started = self._started(sampler, seen, collectors, cage if done.scoped else None)
                ending = collectors.ending(sampler.stop)
                argv = replace(done, gate=done.gate or collectors.attach).argv
                ended = supervise(Program(argv, env, self.folder, cage=cage), deadline, started, ending, beside)
                return replace(ended, seconds=ended.seconds - collectors.waited)
        except (MissingError, LaunchError) as error:
            raise StageError(str(error), self.step.name) from None
        finally:
            sampler.close()
            if is_real(self.folder):  # else nothing of ours is there
                forget(self.folder, done.command.secrets)
                forget_password(self.folder)

    def _wrong(self, kind: Runner, ended: ProcessEnd, deadline: float, kept: Sequence[str]) -> str | None:
        """The parser is a check: output that cannot be read later is a failure now."""
        folder, data, ran = self.folder, self.bench.data, partial(self.bench.until, self.step)
        return (
            step_record.out_of_memory(ended, self._launch.get("memory"))
            or step_record.complaint(ended, deadline, folder, data, self.server, kind, kept)
            or unloaded_allocator(self._launch, folder / "stderr")
            or step_record.wrong_output(kind, replace(self.step, settings=self.settings), folder, data, ran)
        )

    def _lost(self, failed: bool) -> StageError | None:
        """A client that lost its server says so in its own way, often before the server is quite gone."""
        if self.server and self.server.gone(LAST_WORDS if failed else 0.0):
            return self.server.failure(" while the step ran", self.step.name)
        return self.server.crash(self.step.name) if self.server else None

    def _started(
        self, sampler: Sampler, seen: dict[str, Any], collectors: ActiveCollectors, scope: ControlGroup | None
    ) -> Watch:
        def started(pid: int) -> None:
            self.bench.attempt.journal(STARTED, name=self.step.name, pid=pid)  # its group: see survivors
            sampler.start(pid)
            first = partial(collectors.start_and_attach, pid) if collectors.attach else None
            try:
                seen.update(check_launch(pid, self._launch, first))
            except LaunchError:
                sampler.stop(pid)
                raise
            if scope:
                scope.follow(pid)
            if first is None:
                collectors.start(pid)

        return started

    def _collecting(self) -> AbstractContextManager[ActiveCollectors]:
        """A replay is nobody's figure."""
        attempt, asked = self.bench.attempt, {} if self.bench.replay else self.step.setup
        server = self.server.pid if self.server else None
        if asked.get("collectors") and self.server and server is None:
            self.server.warnings.append(f"{self.step.name}: no collector looked on: the server's process is not known")
            asked = {}

        def journal(name: str, pid: int) -> None:
            attempt.journal(STARTED, name=f"collector {name}", pid=pid)

        return collecting(asked, self._context(), attempt.job.site, server, journal)

    def _command(self, kind: Runner) -> LaunchPlan:
        try:
            made = kind.command(self.settings, self.accepted.options, self._context())
            done = plan_launch(made, self._launch)
        except RefusedError as error:
            raise StageError(str(error), self.step.name) from None
        except (LookupError, ValueError) as error:
            raise StageError(f"no {self.step.kind} command can be made: {error}", self.step.name) from None
        except LaunchError as error:
            raise StageError(str(error), self.step.name) from None
        command = done.command
        told = {**command.env, **{name: "***" for name in self._secret_variables() if name in command.env}}
        env = {"env": told, "environment": environment(told)}
        write_json(
            self.folder / "command.json",
            {"argv": list(command.argv), **env, "launch": dict(done.record)},
            durable=False,
        )
        attach(self.folder, {**self.step.files, **command.files})
        return done

    def _secret_variables(self) -> Sequence[str]:
        found: object = engine(self.server.access.engine) if self.server else None
        return found.secret_variables if isinstance(found, ClientEnvironment) else ()

    def _context(self) -> Context:
        job, data = self.bench.attempt.job, self.bench.data
        client = job.made(self.step.client) if self.step.client else None
        programs = {**job.programs, **client.programs} if client else job.programs
        access = self.server.access if self.server else None
        folder, seed, device = self.folder.resolve(), self.step.seed, self._device
        version = str(job.record["version"])
        version_of_client = client.version if client else None
        read, cache = inputs.paths(self.step), job.store.cache(self.step.kind)
        return Context(programs, version, data, folder, seed, access, device, version_of_client, read, cache)

    @property
    def _device(self) -> str | None:
        """The database's, where something says so: of a server that ran before it is not that of our own files."""
        return self.bench.attempt.job.site.device or (
            self.server.device if isinstance(self.server, ExternalServer) else None
        )

    @property
    def _launch(self) -> Mapping[str, Any]:
        return cast(Mapping[str, Any], self.step.setup.get("launch") or {})

    def _probe(self, when: str) -> dict[str, ProbeReading]:
        return ProbeRunner(self.step.name, self._context(), step_timeout.FLOOR, self.server).run(self.step.setup, when)

    def _statistics(self, when: str) -> None:
        """Of the server, or of the files of an engine that is none. A replay is nobody's figure."""
        if self.bench.replay:
            return
        if self.server:
            if found := server_engine(self.server.access.engine):
                server_statistics.keep(found, self.server, self.folder, when)
            return
        embedded = engine(self.bench.attempt.job.build.engine)
        if when == server_statistics.BEFORE and isinstance(embedded, TreeReader):
            # what cannot be read or kept fails no step: it is missing
            with suppress(OSError, ValueError):
                if levels := embedded.levels(self.bench.data):
                    (self.folder / server_statistics.FOLDER).mkdir()
                    path = self.folder / server_statistics.FOLDER / f"{server_statistics.BEFORE}.json"
                    write_json(path, {"levels": levels}, durable=False)

    def _failure(self, message: str, exited_well: bool = False) -> StageError:
        log = explaining_log(self.folder)
        return StageError(message, self.step.name, log, end_of_log(log), exited_well=exited_well)


def declared(step: PlannedStep) -> float | None:
    """Seconds that the step says it takes."""
    found = step.settings.get("duration")
    return float(found) if isinstance(found, int | float) and found > 0 else None
