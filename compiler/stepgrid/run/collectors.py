"""Collectors of a step: started after its engine, ended with it. What fails of them is a warning, never the step."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from stepgrid.host.failure import end_of_log, explaining_log
from stepgrid.host.files import write_json
from stepgrid.host.processes import supervision
from stepgrid.host.processes.supervision import Program, Watch, environment
from stepgrid.host.sampling import ProcessGroup
from stepgrid.model.site import Site
from stepgrid.plugins.collector import AttachingCollector, Collector, Target
from stepgrid.plugins.driver import Context, command_words
from stepgrid.plugins.registry import COLLECTORS
from stepgrid.run.step_files import is_real

FOLDER, RECORD = "collectors", "collector.json"
TO_END = 30.0  # seconds between SIGINT and worse: what was counted is still to be written
TO_ATTACH = 5.0  # seconds that the step's program waits for those that follow its threads
PERIOD = 0.002
GOOD = (0, -signal.SIGINT, -signal.SIGTERM, 128 + signal.SIGINT, 128 + signal.SIGTERM)


class CollectorError(Exception):
    """Why there is nothing of it."""


@dataclass(slots=True)
class ActiveCollectors:
    """Around one step. `server`: the process group of the engine, where the step is only its client."""

    asked: Sequence[Mapping[str, Any]]
    context: Context
    site: Site
    server: int | None
    journal: Callable[[str, int], None]  # of a name, a process group
    waited: float = 0.0  # seconds that the step's program waited for them
    _running: list[_Running] = field(default_factory=list)

    @property
    def attach(self) -> bool:
        """Whether the step's program must wait for them: one that follows threads misses those that began before it."""
        return self.server is None and any(isinstance(_kind(each), AttachingCollector) for each in self.asked)

    def start(self, pid: int) -> None:
        """`pid`: of the step's program."""
        engine = pid if self.server is None else self.server
        for each in self.asked:
            self._start(each, engine)

    def start_and_attach(self, pid: int) -> None:
        began = time.monotonic()
        self.start(pid)
        until = began + TO_ATTACH
        while time.monotonic() < until and not all(each.attached() for each in self._running):
            time.sleep(PERIOD)
        self.waited = time.monotonic() - began

    def ending(self, watch: Watch) -> Watch:
        def end(pid: int) -> None:
            watch(pid)
            for running in self._running:
                running.interrupt()
            while self._running:
                self._running[0].end()
                del self._running[0]

        return end

    def kill(self) -> None:
        for running in self._running:
            supervision.kill(running.process.pid)
            with suppress(ChildProcessError):  # stopped while it was being fetched
                supervision.reap(running.process)

    def _start(self, asked: Mapping[str, Any], engine: int) -> None:
        folder = self.context.folder / FOLDER / str(asked["name"])
        if not is_real(folder):  # the step's program began before: the step fails when it has ended
            return
        folder.mkdir(parents=True)
        env = environment({})
        try:
            words = self._argv(
                asked, Target(tuple(sorted(ProcessGroup(engine).members())) or (engine,), folder), engine
            )
            write_json(folder / "command.json", {"argv": list(words), "environment": env}, durable=False)
            process = supervision.spawn(Program(words, env, folder))
        except (CollectorError, supervision.MissingError) as error:
            note(folder, asked, str(error))
            return
        self.journal(str(asked["name"]), process.pid)
        self._running.append(_Running(asked, folder, process))

    def _argv(self, asked: Mapping[str, Any], target: Target, engine: int) -> Sequence[str]:
        if (found := _kind(asked)) is not None:
            return found.argv(self.site.tool(found.tool), asked, target)
        try:
            return command_words(
                asked["command"], {}, self.context._replace(folder=target.folder), {"pid": str(engine)}
            )
        except LookupError as error:
            raise CollectorError(str(error.args[0])) from None


@dataclass(frozen=True, slots=True)
class _Running:
    asked: Mapping[str, Any]
    folder: Path
    process: subprocess.Popen[bytes]

    def attached(self) -> bool:
        kind: object = _kind(self.asked)
        ended = supervision.exit_status(self.process.pid) is not None
        return ended or not isinstance(kind, AttachingCollector) or kind.attached(self.process.pid)

    def interrupt(self) -> None:
        """It writes down what it has: all of them at once, so that the next step need not wait for each."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> None:
        pid = self.process.pid
        overdue = supervision.wait(pid, TO_END) is None and not supervision.stop(pid)
        supervision.kill(pid)  # what it left in its group
        status, _ = supervision.reap(self.process)
        if not is_real(self.folder):
            return
        note(self.folder, self.asked, self._complaint(status, overdue), status)

    def _complaint(self, status: int, overdue: bool) -> str | None:
        if overdue:
            return f"it did not end within {TO_END:g} s of SIGINT, and was killed"
        if status in GOOD:
            return None
        said = end_of_log(explaining_log(self.folder)).splitlines()[-1:]
        return f"it {supervision.describe_exit(status)}{f': {said[0]}' if said else ''}"


def _kind(asked: Mapping[str, Any]) -> Collector | None:
    """None of a command of the spec's own."""
    return None if (name := asked.get("collector")) is None else COLLECTORS.get(str(name))


@contextmanager
def collecting(
    setup: Mapping[str, Any], context: Context, site: Site, server: int | None, journal: Callable[[str, int], None]
) -> Iterator[ActiveCollectors]:
    asked = cast(Sequence[Mapping[str, Any]], setup.get("collectors") or ())
    found = ActiveCollectors(asked, context, site, server, journal)
    try:
        yield found
    finally:
        found.kill()


def note(folder: Path, asked: Mapping[str, Any], warning: str | None, status: int | None = None) -> None:
    """What became of it: collect reads its warning."""
    write_json(folder / RECORD, {**asked, "exit": status, "warning": warning}, durable=False)
