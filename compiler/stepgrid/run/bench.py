"""The steps of a stage in order, with their server around them, the values of a search, and unchanged input files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from statistics import median
from typing import NamedTuple, cast

from msgspec import Struct

from stepgrid.expand.search import (
    AxisSearch,
    RateShare,
    Trial,
    chosen_axis,
    next_boundary,
    next_peak,
    rate_target,
)
from stepgrid.host.failure import StageError, end_of_log, explaining_log
from stepgrid.host.files import write_json
from stepgrid.host.processes.signals import MARK, kill_marked
from stepgrid.host.processes.supervision import Watch
from stepgrid.host.processes.timetable import Entry, Timetable
from stepgrid.language.expressions import ExpressionError
from stepgrid.language.files import checksum, reuse_checksums
from stepgrid.model.plan import WITHOUT_OPTIONS, PlannedStage, PlannedStep
from stepgrid.model.records import StepRecord, Timing, replace
from stepgrid.model.units import as_number
from stepgrid.plugins.registry import require_runner, server_engine
from stepgrid.plugins.server import LoadedTables
from stepgrid.run.attempt import Attempt
from stepgrid.run.collectors import draw
from stepgrid.run.options import AcceptedOptions
from stepgrid.run.server import serving
from stepgrid.run.server_process import ReachedServer
from stepgrid.run.step import StepEnd, StepRun, describe, refuse_unknown_kinds
from stepgrid.store.paths import ROUND_FOLDER
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
                for indices in group_steps(self.stage.steps):
                    finished += self._run_steps(indices, accepted, server, finished)
                if server and self.stage.children:
                    refuse_empty(server, [step for step in finished if step.step.mutates])
        finally:
            kill_marked(MARK, self.attempt.folder)  # daemons, where no cgroup holds them
        refuse_changed(store, self.stage, MEANWHILE)
        draw(self.folder, self.attempt.job.site)
        records = [step.record for step in finished]
        return [server.add_warnings(record) for record in records] if server else records

    def _run_steps(
        self,
        indices: range,
        accepted: Sequence[AcceptedOptions],
        server: ReachedServer | None,
        finished: Sequence[FinishedStep],
    ) -> list[FinishedStep]:
        """Run a step, and beside it those that follow it in the list."""
        main, *companion_runs = [self._prepare_step(index, accepted[index], server, finished) for index in indices]
        companions, planned = Companions(companion_runs), main.planned
        seconds = as_number(planned.settings.get("duration"))
        self.attempt.journal(
            "step",
            name=planned.name,
            folder=str(main.folder.relative_to(self.attempt.folder)),
            kind=planned.kind,
            index=indices[0],
            of=len(self.stage.steps),
            declared=seconds if seconds and seconds > 0 else None,
        )
        records = [main.run(companions.timetable), *companions.records()]
        pairs = zip([main, *companion_runs], records, strict=True)
        return [FinishedStep(step.planned, record, step.folder) for step, record in pairs]

    def _prepare_step(
        self, index: int, options: AcceptedOptions, server: ReachedServer | None, finished: Sequence[FinishedStep]
    ) -> StepRun:
        planned, data = self.stage.steps[index], self.data
        folder = self.folder / "steps" / f"{index}-{re.sub(r'[^A-Za-z0-9_.+=,@-]', '_', planned.name)}"
        folder.mkdir(parents=True)
        if planned.is_beside and server is None and planned.kind != WITHOUT_OPTIONS:
            # an embedded engine opens a database once: a second one of its programs has a database of its own
            data = self.data.with_name(f"{self.data.name}-{self.stage.id}-{index}")
            data.mkdir()
        value = choose_value(planned, finished)
        history = partial(self._history, planned)
        return StepRun(self.attempt, planned, folder, data, options, server, value, self.replay, history)

    def _history(self, step: PlannedStep) -> Sequence[PlannedStep]:
        """List the steps that made its database, from an empty one on, up to this step of the stage."""
        before = takewhile(lambda stage: stage.id != self.stage.id, self.attempt.job.ancestors())
        steps = self.stage.steps
        return [*(step for stage in before for step in stage.steps), *steps[: steps.index(step) + 1]]


# Steps that run beside another one: their rounds by a timetable, and a record of each


class BesideRun(NamedTuple):
    step: StepRun
    timing: Timing
    ends: list[StepEnd]  # of its rounds


class Companions:
    """Steps beside another one of the same stage."""

    def __init__(self, steps: Sequence[StepRun]) -> None:
        timings = [(step, step.planned.setup.timing) for step in steps]
        self._companions = [BesideRun(step, timing, []) for step, timing in timings if timing is not None]
        self.timetable = Timetable([
            Entry(
                timing.number,
                companion.step.planned.name,
                partial(self._run_round, companion),
                timing.at,
                timing.period,
                timing.after,
                timing.stops,
            )
            for companion in self._companions
            for timing in (companion.timing,)
        ])  # fmt: skip
        for step in steps:  # what cannot be made fails the step before it begins
            step.make_command(require_runner(step.planned.kind))

    def records(self) -> Iterator[StepRecord]:
        """Write and return their records, in order."""
        for companion in self._companions:
            record = describe_rounds(companion, companion.timing.number in self.timetable.stopped)
            write_json(companion.step.folder / "step.json", record, durable=False)
            companion.step.attempt.journal("step beside ended", **record.to_json())
            yield record

    def _run_round(self, companion: BesideRun, number: int, started: Watch, ending: Watch) -> None:
        step = companion.step
        if companion.timing.period is not None:
            step = replace(step, folder=step.folder / f"{ROUND_FOLDER}{number}")
            step.folder.mkdir()
        end = step.run_beside(started, ending)
        companion.ends.append(end)
        if companion.timing.number not in self.timetable.stopped:
            step.refuse_beside(end.process, end.deadline)


def describe_rounds(companion: BesideRun, stopped: bool) -> StepRecord:
    """Make the record of a step that ran beside another one; of rounds the times are medians, without a part of one."""
    step, processes = companion.step, [end.process for end in companion.ends]
    complete = (processes[:-1] if stopped else processes) or processes
    process = replace(
        processes[-1],
        started=processes[0].started,
        seconds=median(process.seconds for process in complete),
        user=median(process.user for process in complete),
        system=median(process.system for process in complete),
        max_rss=max(process.max_rss for process in processes),
        suspended=sum(process.suspended for process in processes),
    )
    record = describe(step.planned, companion.ends[0]._replace(process=process), step.accepted.dropped)
    is_repeated = companion.timing.period is not None
    rounds = tuple((process.started, process.ended) for process in processes) if is_repeated else ()
    return replace(record, rounds=rounds, stopped=stopped)


def group_steps(steps: Sequence[PlannedStep]) -> Iterator[range]:
    """Group the indices of steps: one of the sequence, and those that run beside it."""
    starts = [index for index, step in enumerate(steps) if not step.is_beside]
    for start, end in zip(starts, [*starts[1:], len(steps)], strict=True):
        yield range(start, end)


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


# The value of a step that is chosen from what those before it in this stage have shown


def choose_value(step: PlannedStep, finished: Sequence[FinishedStep]) -> float | None:
    """Choose a value; None for a step that needs none. StageError where earlier steps lack a figure."""
    search = chosen_axis(step.setup)
    if search is None:
        return None
    if isinstance(search, RateShare):
        return _share_value(search, step, finished)
    trials = list(_trials(search, step.name, finished))
    if search.limit:
        return next_boundary(search.least, search.most, trials)
    return next_peak(search.least, search.most, search.points, trials)


def _share_value(share: RateShare, step: PlannedStep, finished: Sequence[FinishedStep]) -> float:
    from stepgrid.collect.step_figures import read_step

    target = rate_target(step.kind, step.settings, share.param)
    assert target is not None, "compilation refuses a setting that is no rate"
    reached = next(other for other in finished if other.step.name == share.of)
    figures = read_step(reached.folder, reached.step, reached.record)
    if figure := figures.metrics.get(target.metric):
        return share.value(target, figure)
    reason = figures.error or f"step `{share.of}` has none"
    raise StageError(f"its rate is a share of the {target.metric} of step `{share.of}`: {reason}", step.name)


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
            count = figures.metrics.get("operations", 0)  # a percentile is of many
            message = f"the search `{search.objective}` cannot go on: {error} (of {count:,.0f} operations)"
            raise StageError(message, point.step.name) from None
