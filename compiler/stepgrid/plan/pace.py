"""The pace of this host: how long stages take, by results of this run and earlier ones, else by a table.

A stage takes the time of its steps, and some around them: a job begins, a server starts, an image is restored."""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple, TypeAlias

from stepgrid.model.plan import Plan, PlannedStage, PlannedStep
from stepgrid.model.status import ActiveWork, Eta, Result, Status, add_times
from stepgrid.plugins.driver import Counting
from stepgrid.plugins.registry import driver, engine

NEWEST_RESULTS = 64  # that the pace is taken from: the latest say most
LONGEST_PAUSE = 30.0  # seconds between two stages of one run: in a longer one something else happened
BESIDE = "beside"  # in place of settings, of a step that runs beside another one
BEFORE_STEPS, AFTER_STEPS = 0.5, 0.1  # shares of the time around its steps that a stage spends before and after them


class Around(NamedTuple):
    """Seconds that a stage takes around its steps, and each step beside its own time."""

    stage_s: float
    step_s: float

    def seconds(self, steps: int) -> float:
        return self.stage_s + self.step_s * steps


# Used until this host has results. In tests/plan/recorded_runs.json the truth is met in 26 of 30; with a table that is
# fitted to the other runs (each left out), or by what the running stage has taken around its steps so far, in 25.
AROUND: Mapping[bool, Around] = {True: Around(7.0, 0.4), False: Around(2.0, 0.1)}  # by whether the engine is a server
COUNTED_WEIGHT_S = 100.0  # what a driver's estimate of counted work weighs against results of its kind
COUNTED_SPREAD, AROUND_SPREAD = 3.0, 2.0  # factors by which both may err on a host without results


class StepForm(NamedTuple):
    """Properties of a step that decide how long it takes, whatever options it has."""

    engine: str
    kind: str
    settings: str
    declared: float  # seconds: the duration of its settings, or the estimate of its driver
    is_timed: bool  # it ends by the clock

    @property
    def work(self) -> tuple[str, str]:
        return self.engine, self.kind


class Forms:
    """Forms of the steps of stages, each worked out once."""

    def __init__(self) -> None:
        self._engines: dict[str, str] = {}  # by build
        self._forms: dict[str, tuple[StepForm, ...]] = {}  # by stage
        self._shared: dict[tuple[str, str, int], tuple[object, StepForm]] = {}  # by settings, which the value holds

    def add(self, plan: Plan) -> None:
        self._engines |= {build.id: build.engine for build in plan.builds}

    def engine_of(self, stage: PlannedStage) -> str:
        return self._engines.get(stage.build, "")

    def of(self, stage: PlannedStage) -> tuple[StepForm, ...]:
        if stage.id not in self._forms:
            self._forms[stage.id] = tuple([self._form(step, stage) for step in stage.steps])
        return self._forms[stage.id]

    def _form(self, step: PlannedStep, stage: PlannedStage) -> StepForm:
        engine_name = self.engine_of(stage)
        if step.is_beside:  # it takes no time of its own
            return StepForm(engine_name, step.kind, BESIDE, 0.0, True)
        key = (engine_name, step.kind, id(step.settings))
        if key not in self._shared:
            text = json.dumps(step.settings, sort_keys=True)
            try:
                kind = driver(step.kind)
                is_counted = isinstance(kind, Counting) and kind.counted_work(step.settings) is not None
                seconds, is_timed = kind.estimate(step.settings), bool(step.settings.get("duration")) and not is_counted
            except (LookupError, TypeError):  # of another version
                return StepForm(engine_name, step.kind, text, stage.seconds / len(stage.steps), False)
            self._shared[key] = step.settings, StepForm(engine_name, step.kind, text, seconds, is_timed)
        return self._shared[key][1]


class MeasuredStage(NamedTuple):
    stage: PlannedStage
    result: Result
    created: float | None  # unix time of its attempt, which may have waited for the host


def _around(engine_name: str) -> Around:
    try:
        return AROUND[engine(engine_name).server]
    except LookupError:
        return AROUND[False]


_StageTime: TypeAlias = tuple[Sequence[Eta], Eta]  # of its steps, and around them


def _guess(seconds: float, spread: float) -> Eta:
    return Eta(seconds, (seconds / spread, seconds * spread))


class Pace:
    """Times of stages, by the newest results and the steps of a running stage that have ended."""

    def __init__(
        self,
        forms: Forms,
        results: Iterable[MeasuredStage] = (),
        running: Iterable[tuple[PlannedStage, ActiveWork]] = (),
    ) -> None:
        self._forms = forms
        self._steps: dict[tuple[str, ...], list[float]] = defaultdict(list)
        self._work: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])  # measured, declared
        self._around: dict[tuple[str | bool, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])  # measured, table
        self._times: dict[str, _StageTime | None] = {}
        newest = heapq.nlargest(NEWEST_RESULTS, results, key=lambda entry: entry.result.folder.name)
        before: float | None = None
        for stage, result, created in reversed(newest):
            if result.seconds is not None and result.status is Status.DONE and not stage.origin:
                self._add_result(stage, result, created, before)
                before = result.ended
        for stage, work in running:
            forms_of_steps = forms.of(stage)
            for index, seconds in work.ended:
                if index < len(forms_of_steps):
                    self._add_step(forms_of_steps[index], seconds)

    def _add_result(self, stage: PlannedStage, result: Result, created: float | None, before: float | None) -> None:
        forms = self._forms.of(stage)
        times = [step.seconds for step in result.steps]
        total, declared = result.seconds or 0.0, sum(form.declared for form in forms)
        if None in times or len(times) != len(forms):  # an old or imported record: by what is declared
            times = [total * (form.declared / declared if declared else 1 / len(forms)) for form in forms]
        times = [0.0 if form.settings == BESIDE else time for form, time in zip(forms, times, strict=True)]
        for form, seconds in zip(forms, times, strict=True):
            self._add_step(form, seconds or 0.0)
        if result.ended is None or created is None:
            return
        start = before if before is not None and 0 <= created - before < LONGEST_PAUSE else created
        around = max(result.ended - start - result.waited - sum(time or 0.0 for time in times), 0.0)
        for key in self._around_keys(stage):
            self._around[key][0] += around
            self._around[key][1] += _around(self._forms.engine_of(stage)).seconds(len(forms))

    def _add_step(self, form: StepForm, seconds: float) -> None:
        for key in ((*form.work, form.settings), (form.kind, form.settings)):
            self._steps[key].append(seconds)
        for work in () if form.is_timed else (form.work, (form.kind,)):
            self._work[work][0] += seconds
            self._work[work][1] += form.declared

    def _around_keys(self, stage: PlannedStage) -> tuple[tuple[str | bool, ...], ...]:
        name = self._forms.engine_of(stage)
        return (name,), (name, stage.parent is None)

    def stage(self, stage: PlannedStage) -> Eta | None:
        """Estimate a stage; None where nothing is known of a step."""
        parts = self._parts(stage)
        return None if parts is None else add_times([*parts[0], parts[1]])

    def _parts(self, stage: PlannedStage) -> _StageTime | None:
        if stage.id not in self._times:
            forms = self._forms.of(stage)
            steps = [self._step(form) for form in forms]
            is_known = stage.seconds > 0 or all((form.kind, form.settings) in self._steps for form in forms)
            self._times[stage.id] = (steps, self._time_around(stage)) if is_known else None
        return self._times[stage.id]

    def _step(self, form: StepForm) -> Eta:
        for key in ((*form.work, form.settings), (form.kind, form.settings)):
            if key in self._steps:
                return Eta(fmean(self._steps[key]))
        if form.is_timed:
            return Eta(form.declared)
        factor = 1.0
        for work in ((form.kind,), form.work):
            measured, declared = self._work.get(work, (0.0, 0.0))
            factor = (measured + COUNTED_WEIGHT_S * factor) / (declared + COUNTED_WEIGHT_S)
        seconds = form.declared * factor
        return Eta(seconds) if form.work in self._work else _guess(seconds, COUNTED_SPREAD)

    def _time_around(self, stage: PlannedStage) -> Eta:
        usual = _around(self._forms.engine_of(stage)).seconds(len(stage.steps))
        seconds, keys = usual, self._around_keys(stage)
        for key in keys:
            measured, table = self._around.get(key, (0.0, 0.0))
            seconds = usual * (measured + seconds) / (table + usual)
        return Eta(seconds) if keys[0] in self._around else _guess(seconds, AROUND_SPREAD)

    def remaining(self, stage: PlannedStage, work: ActiveWork, now: float) -> Eta | None:
        """Estimate what is left of a running stage, by its newest step."""
        parts = self._parts(stage)
        if parts is None:
            return None
        steps, around = parts
        if work.index is None or work.index >= len(steps) or work.replays:
            elapsed = min(max(now - (work.since or now), 0.0) / max(around.seconds or 0.0, 1e-9), BEFORE_STEPS)
            return add_times([*steps, around.share(1.0 - elapsed)])
        ahead = steps[work.index + 1 :]
        between = (1.0 - BEFORE_STEPS - AFTER_STEPS) * len(ahead) / len(steps)
        times = [*ahead, around.share(AFTER_STEPS + between)]
        if work.step is not None and (seconds := steps[work.index].seconds):
            times.append(steps[work.index].share(max(1.0 - (now - work.step.since) / seconds, 0.0)))
        return add_times(times)
