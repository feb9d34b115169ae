"""A server program that a build declares as its `service`: started, asked whether it is ready, and stopped by that."""

from __future__ import annotations

import signal
import socket
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from stepgrid.host.failure import end_of_log, explaining_log
from stepgrid.host.processes.supervision import Program, environment, supervise
from stepgrid.model.plan import SERVICE, Command, PlannedStage
from stepgrid.plugins.driver import OPTION_FORM, Context, command_words
from stepgrid.plugins.server import LOCAL, Access, Connection, Effective, IdleReading, ServerHome, StatisticsReaders
from stepgrid.run.job_context import Job

READY, STOP = 120.0, 600.0  # seconds, where the spec does not say
ANSWER = 10.0  # seconds for one look at whether it is ready
LOOK = "ready"  # folder of the command that looks, in the server's


@dataclass(slots=True)
class DeclaredService:
    said: Mapping[str, Any]
    context: Context
    options: Mapping[str, Any]
    port: int
    stop: signal.Signals
    ready_within: float
    stop_within: float
    socket: str = "service.sock"
    user: str = ""
    database: str = ""

    def configuration(self, home: ServerHome, options: Mapping[str, Any]) -> Mapping[str, str]:
        return {}

    def initialize(self, home: ServerHome) -> Sequence[Command]:
        return ()

    def prepare(self, home: ServerHome) -> Sequence[Command]:
        """Nothing is run: what cannot be right is said before it is started."""
        self.ending(home.access)
        ready = self.said["ready"]
        self._command(ready.get("command", ()), home.access)
        if "port" in ready and self._in_use(home.access):
            port = self._word(ready["port"], home.access)
            raise ValueError(f"another program listens on port {port}; use `{{port}}`")
        return ()

    def _in_use(self, access: Access) -> bool:
        try:
            self.connect(access)
        except OSError:
            return False
        return True

    def serve(self, home: ServerHome) -> Command:
        return self._command(self.said["argv"], home.access)

    def ending(self, access: Access) -> Command | None:
        words = (self.said.get("stop") or {}).get("command")
        return self._command(words, access) if words else None

    def connect(self, access: Access) -> Connection:
        """Nothing more is asked of it than whether it is ready."""
        if "command" in self.said["ready"]:
            self._look(self._command(self.said["ready"]["command"], access))
        elif "port" in self.said["ready"]:
            self._listens(socket.AF_INET, (LOCAL, int(self._word(self.said["ready"]["port"], access))))
        else:
            self._listens(socket.AF_UNIX, self._word(self.said["ready"]["socket"], access))
        return _Answered()

    def effective(self, connection: Connection, asked: Mapping[str, Any]) -> Effective:
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
        places = access.placeholders()
        given = self.said.get("env") or {}
        env = {name: self._word(value, access) for name, value in given.items()}
        return Command(
            command_words(words, self.options, self.context, places, self.said.get("option") or OPTION_FORM), env
        )

    def _word(self, word: str, access: Access) -> str:
        (found,) = command_words((word,), {}, self.context, access.placeholders())
        return found

    def _look(self, command: Command) -> None:
        folder = self.context.folder / LOOK
        folder.mkdir(exist_ok=True)
        ended = supervise(Program(command.argv, environment(command.env), folder), ANSWER)
        if ended.exit or ended.overdue:
            how = f"did not end within {ANSWER:g} s" if ended.overdue else f"ended with exit status {ended.exit}"
            said = end_of_log(explaining_log(folder)).rpartition("\n")[2]
            raise ConnectionError(f"`{Path(command.argv[0]).name}` {how}{f': {said}' if said else ''}")

    def _listens(self, family: int, address: Any) -> None:
        with closing(socket.socket(family)) as client:
            client.settimeout(ANSWER)
            client.connect(address)


class _Answered:
    """There is nothing to ask: no protocol is known."""

    def query(self, sql: str) -> list[Mapping[str, Any]]:
        return []

    def close(self) -> None:
        pass


def declared(
    job: Job, stage: PlannedStage, data: Path, folder: Path, options: Mapping[str, Any]
) -> DeclaredService | None:
    """None of a stage whose build declares no service. `folder`: of the server, in the attempt."""
    said = cast("Mapping[str, Any] | None", stage.steps[0].setup.get(SERVICE))
    if said is None:
        return None
    context = Context(job.programs, str(job.record["version"]), data, folder, 0)
    ready, stop = said["ready"], said.get("stop") or {}
    number = signal.Signals[stop.get("signal") or "SIGTERM"]
    waits = (float(ready.get("timeout") or READY), float(stop.get("timeout") or STOP))
    return DeclaredService(said, context, options, _free_port(), number, *waits)


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind((LOCAL, 0))
        return int(probe.getsockname()[1])
