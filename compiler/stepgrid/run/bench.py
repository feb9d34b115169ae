"""The steps of a stage in order, with their server around them, the values of a search, and unchanged input files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, cast

from msgspec import Struct

from stepgrid.expand.search import AxisSearch, Trial, next_boundary, next_peak, parse_objective
from stepgrid.host.failure import StageError, end_of_log, explaining_log
from stepgrid.host.processes.signals import MARK, kill_marked
from stepgrid.language.expressions import ExpressionError
from stepgrid.language.files import checksum, reuse_checksums
from stepgrid.model.plan import PlannedStage, PlannedStep
from stepgrid.model.records import StepRecord
from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import LoadedTables
from stepgrid.run.attempt import Attempt
from stepgrid.run.collectors import draw
from stepgrid.run.options import AcceptedOptions
from stepgrid.run.server import serving
from stepgrid.run.server_process import ReachedServer
from stepgrid.run.step import StepRun, refuse_unknown_kinds
from stepgrid.store.store import Store


class FinishedStep(NamedTuple):
    step: PlannedStep
    record: StepRecord
    folder: Path


class StageRun(Struct, frozen=True):
    """A stage, the database that its steps use, and the folder of their files."""

    attempt: Attempt
    stage: PlannedStage
    folder: Path  # the attempt's, or that of a replay in it
    data: Path
    replay: bool = False

    def run(self, accepted: Sequence[AcceptedOptions]) -> list[StepRecord]:
        """Run all steps; return their records."""
        refuse_unknown_kinds(self.stage)
        store = self.attempt.job.store
        refuse_changed(store, self.stage, PLANNED)
        finished: list[FinishedStep] = []
        try:
            with serving(self.attempt, self.stage, self.folder, self.data, accepted) as server:
                for index, options in enumerate(accepted):
                    finished.append(self._run_step(index, options, server, finished))
                if server and self.stage.children:
                    refuse_empty(server, [step for step in finished if step.step.mutates])
        finally:
            kill_marked(MARK, self.attempt.folder)  # daemons, where no cgroup holds them
        refuse_changed(store, self.stage, MEANWHILE)
        draw(self.folder, self.attempt.job.site)
        records = [step.record for step in finished]
        return [server.add_warnings(record) for record in records] if server else records

    def _run_step(
        self, index: int, options: AcceptedOptions, server: ReachedServer | None, finished: Sequence[FinishedStep]
    ) -> FinishedStep:
        attempt, planned = self.attempt, self.stage.steps[index]
        value = choose_value(planned, finished)
        folder = self.folder / "steps" / f"{index}-{re.sub(r'[^A-Za-z0-9_.+=,@-]', '_', planned.name)}"
        folder.mkdir(parents=True)
        seconds = planned.settings.get("duration")
        attempt.journal(
            "step",
            name=planned.name,
            folder=str(folder.relative_to(attempt.folder)),
            kind=planned.kind,
            index=index,
            of=len(self.stage.steps),
            declared=seconds if isinstance(seconds, int | float) and seconds > 0 else None,
        )
        history = partial(self._history, planned)
        step = StepRun(attempt, planned, folder, self.data, options, server, value, self.replay, history)
        return FinishedStep(planned, step.run(), folder)

    def _history(self, step: PlannedStep) -> Sequence[PlannedStep]:
        """List the steps that made its database, from an empty one on, up to this step of the stage."""
        before = takewhile(lambda stage: stage.id != self.stage.id, self.attempt.job.ancestors())
        steps = self.stage.steps
        return [*(step for stage in before for step in stage.steps), *steps[: steps.index(step) + 1]]


# What the stages after a checkpoint start from


def refuse_empty(server: ReachedServer, loads: Sequence[FinishedStep]) -> None:
    """Refuse a load that ended well and left no table: all that starts from its checkpoint would measure nothing."""
    access, engine = server.access, cast(object, server_engine(server.access.engine))
    if loads and not access.running and isinstance(engine, LoadedTables) and not engine.has_tables(access):
        log = explaining_log(loads[-1].folder)
        message = (
            "it ended with exit status 0 and left no table: there would be nothing in the database of the checkpoint"
        )
        raise StageError(message, loads[-1].step.name, log, end_of_log(log))


# Files that the commands of a stage read, as they were planned: figures of other contents would lie under its name

PLANNED, MEANWHILE = "after this run was planned", "while the stage ran"
_ADVICE = {
    PLANNED: "start the run again, which plans it anew",
    MEANWHILE: "have programs write to `{folder}`, leave what they read alone, and start the run again",
}


def refuse_changed(store: Store, stage: PlannedStage, when: str) -> None:
    """Compare checksums, before the first step and after the last."""
    if not stage.contents:
        return
    with reuse_checksums(store.checksums()):
        for step in stage.steps:
            for name, path in step.setup.paths.items():
                try:
                    problem = None if checksum(path) == step.setup.files[name] else "changed"
                except OSError as error:
                    problem = f"could not be read ({error.strerror})"
                if problem:
                    raise StageError(f"`{name}` {problem} {when}: {_ADVICE[when]}", step.name)


# The value of a point of a search, chosen from what the points before it in this stage have shown


def choose_value(step: PlannedStep, finished: Sequence[FinishedStep]) -> int | None:
    """Choose a value; None for a step that is no point of a search. StageError where earlier points lack a figure."""
    search = AxisSearch.from_setup(step.setup)
    if search is None:
        return None
    trials = list(_trials(search, step.name, finished))
    if parse_objective(search.objective).name == search.variable:
        return next_boundary(search.least, search.most, trials)
    return next_peak(search.least, search.most, search.points, trials)


def _trials(search: AxisSearch, name: str, finished: Sequence[FinishedStep]) -> Iterator[Trial]:
    from stepgrid.collect.step_figures import TRIED, read_step, trial

    for point in finished:
        other = AxisSearch.from_setup(point.step.setup)
        if not point.step.measured or other is None or other.group(point.step.name) != search.group(name):
            continue  # a warm-up, or a point of another search
        figures = read_step(point.folder, point.step, point.record)
        if figures.error:
            raise StageError(f"the search cannot go on: {figures.error}")
        try:
            yield trial(search, int(figures.metrics[TRIED]), figures.metrics)
        except ExpressionError as error:
            message = f"the search `{search.objective}` cannot go on: {error}"
            raise StageError(message, point.step.name) from None
