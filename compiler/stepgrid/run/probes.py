"""Probes of a step: commands and SQL, run and timed before or after it. What they saw is kept in the step's record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepgrid.host.failure import StageError, end_of_log, explaining_log
from stepgrid.host.files import write_json
from stepgrid.host.processes.supervision import MissingError, Program, environment, supervise
from stepgrid.model.plan import Command
from stepgrid.plugins import driver
from stepgrid.plugins.driver import Context, command_words
from stepgrid.plugins.server import counter_differences
from stepgrid.run.server.process import LAST_WORDS
from stepgrid.run.server.server_handle import ReachedServer
from stepgrid.run.step_files import attach, is_real

BEFORE, AFTER = "before", "after"
SQL = "stepgrid.drivers.sql"


@dataclass(frozen=True, slots=True)
class ProbeReading:
    """What one probe saw."""

    seconds: float
    counters: Mapping[str, float] = field(default_factory=dict)  # by how much they grew


@dataclass(frozen=True, slots=True)
class ProbeRunner:
    """Around which step."""

    step: str
    context: Context
    deadline: float
    server: ReachedServer | None = None

    def run(self, setup: Mapping[str, Any], when: str) -> dict[str, ProbeReading]:
        """Of one step: name -> what it saw, in their order."""
        return {probe["name"]: self._probed(probe, when) for probe in setup.get(when) or ()}

    def _probed(self, probe: Mapping[str, Any], when: str) -> ProbeReading:
        name, folder = str(probe["name"]), self.context.folder / "probes" / f"{when}-{probe['name']}"
        seen = self._asked(probe, name, folder) if "sql" in probe else self._commanded(probe, name, folder)
        if not is_real(folder):
            raise StageError(f"probe {name}: it replaced its folder by a link", self.step)
        about = {"seconds": seen.seconds, **({"counters": dict(seen.counters)} if probe.get("counters") else {})}
        write_json(folder / "probe.json", {"name": name, "when": when, **about}, durable=False)
        return seen

    def _asked(self, probe: Mapping[str, Any], name: str, folder: Path) -> ProbeReading:
        """The time of the statement, without the connection's."""
        self._supervised(self._sql([probe["sql"]], _counters(probe)), name, folder)
        said = self._said(name, folder)
        return ProbeReading(float(said["seconds"]), counter_differences(said.get("before", {}), said.get("after", {})))

    def _commanded(self, probe: Mapping[str, Any], name: str, folder: Path) -> ProbeReading:
        before = self._counted(probe, name, folder / "counters-before")
        seconds = self._supervised(Command(self._argv(probe["command"], name)), name, folder)
        return ProbeReading(seconds, counter_differences(before, self._counted(probe, name, folder / "counters-after")))

    def _counted(self, probe: Mapping[str, Any], name: str, folder: Path) -> Mapping[str, float]:
        if not _counters(probe):
            return {}
        self._supervised(self._sql([], _counters(probe)), name, folder)
        found: Mapping[str, float] = self._said(name, folder).get("before", {})
        return found

    def _said(self, name: str, folder: Path) -> dict[str, Any]:
        said = _lines(folder / "stdout")
        lacking = [f"probe {name}: the server has no counter and no table `{each}`" for each in said.get("missing", ())]
        if self.server:
            self.server.warnings.extend(each for each in lacking if each not in self.server.warnings)
        return said

    def _sql(self, statements: Sequence[str], counters: Sequence[str]) -> Command:
        asked = {"sql": list(statements), "timeout": self.deadline, "counters": list(counters)}
        return driver.server_request(SQL, self.context, asked)

    def _argv(self, words: Sequence[str], name: str) -> tuple[str, ...]:
        try:
            return command_words(words, {}, self.context)
        except LookupError as error:
            raise StageError(f"probe {name}: {error.args[0]}", self.step) from None

    def _supervised(self, command: Command, name: str, folder: Path) -> float:
        """Wall time of the program."""
        folder.mkdir(parents=True)
        env = environment(command.env)
        write_json(folder / "command.json", {"argv": list(command.argv), "environment": env}, durable=False)
        attach(folder, command.files)
        beside = self.server.ours if self.server else None
        try:
            ended = supervise(Program(command.argv, env, folder), self.deadline, companion=beside)
        except MissingError as error:
            raise StageError(f"probe {name}: {error}", self.step) from None
        if ended.exit or ended.overdue:
            how = f"did not end within {self.deadline:g} s" if ended.overdue else f"ended with exit status {ended.exit}"
            raise self._failure(name, how, folder)
        return ended.seconds

    def _failure(self, name: str, how: str, folder: Path) -> StageError:
        if self.server and self.server.gone(LAST_WORDS):
            return self.server.failure(f" while the probe {name} ran", self.step)
        log = explaining_log(folder)
        return StageError(f"probe {name} {how}", self.step, log, end_of_log(log))


def _counters(probe: Mapping[str, Any]) -> Sequence[str]:
    """Their names; a single one stands by itself."""
    found = probe.get("counters") or ()
    return (found,) if isinstance(found, str) else found


def _lines(stdout: Path) -> dict[str, Any]:
    """All that the lines say, by name."""
    found: dict[str, Any] = {}
    for line in stdout.read_text(encoding="utf-8").splitlines():
        found |= json.loads(line)
    return found
