"""The estimated time left, over recorded runs: stages with the times of their steps, of cold stores on a busy host."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path

from stepgrid.model.plan import PlannedStage
from stepgrid.model.records import StepRecord
from stepgrid.model.status import ActiveStep, ActiveWork, Eta, Result, add_times
from stepgrid.plan.pace import Forms, MeasuredStage, Pace, StepForm
from stepgrid.store.paths import TIME_FORMAT

BEGAN = datetime(2026, 11, 28, tzinfo=UTC).timestamp()
STORES = json.loads(Path(__file__).with_name("recorded_runs.json").read_text())
EARLIER = 4  # runs of the same spec that a pace is taken from, until this one has results of both kinds


class RecordedForms(Forms):
    def __init__(self, store):
        super().__init__()
        self.forms = [
            StepForm(engine, kind, str(index), declared, bool(is_timed))
            for index, (engine, kind, declared, is_timed) in enumerate(store["forms"])
        ]
        self.by_stage: dict[str, tuple[str, tuple[StepForm, ...]]] = {}

    def engine_of(self, stage):
        return self.by_stage[stage.id][0]

    def of(self, stage):
        return self.by_stage[stage.id][1]


class Recording:
    def __init__(self, forms, run, earlier):
        self.forms, self.records, self.spec = forms, run["stages"], run["spec"]
        self.earlier = [recording for recording in earlier if recording.spec == self.spec][-EARLIER:]
        self.began = BEGAN + run["began"]
        self.seconds = self.records[-1][4]
        self.stages = []
        for index, (engine, is_load, *_, steps) in enumerate(self.records):
            stage = f"s-{run['began']}-{index}"
            forms.by_stage[stage] = engine, tuple(forms.forms[at] for at, _, _ in steps)
            of_steps = (None,) * len(steps)
            parent = None if is_load else "s"
            self.stages.append(PlannedStage(stage, "", "b", parent, (), 0, 0, "h", of_steps, 1.0, 0))

    def results(self, now):
        return [
            MeasuredStage(stage, self._result(record), self.began + record[2])
            for stage, record in zip(self.stages, self.records, strict=True)
            if record[4] <= now
        ]

    def eta(self, now):
        """Estimate what is left after so many seconds, as a status would."""
        pairs = [*zip(self.stages, self.records, strict=True)]
        running = [(stage, self._work(record, now)) for stage, record in pairs if record[3] <= now < record[4]]
        results = self.results(now)
        if len({stage.parent for stage, *_ in results}) < 2:
            results += [result for run in self.earlier for result in run.results(math.inf)]
        pace, at_work = Pace(self.forms, results, running), {stage.id: work for stage, work in running}
        return add_times(
            pace.remaining(stage, at_work[stage.id], self.began + now) or Eta(None)
            if stage.id in at_work
            else pace.stage(stage) or Eta(None)
            for stage, record in pairs
            if record[4] > now
        )

    def _work(self, record, now):
        steps = [*enumerate(record[6])]
        ended = tuple((index, end - start) for index, (_, start, end) in steps if end <= now)
        begun = [(index, start, end) for index, (_, start, end) in steps if start <= now]
        if not begun:
            return ActiveWork((), since=self.began + record[3])
        index, start, end = begun[-1]
        step = ActiveStep("", "", index, len(steps), None, self.began + start, Path()) if end > now else None
        return ActiveWork((), since=self.began + record[3], step=step, index=index, ended=ended)

    def _result(self, record):
        _, _, created, began, ended, waited, steps = record
        folder = Path(datetime.fromtimestamp(self.began + created, UTC).strftime(TIME_FORMAT))
        times = tuple(StepRecord(seconds=end - start) for _, start, end in steps)
        return Result(folder, seconds=ended - began, ended=self.began + ended, waited=waited, steps=times)


def recordings():
    for store in STORES:
        forms, earlier = RecordedForms(store), list[Recording]()
        for run in store["runs"]:
            earlier.append(Recording(forms, run, tuple(earlier)))
            yield earlier[-1]


def ratios(share):
    """Divide the estimate by the truth, for each run, when a share of its time is over."""
    for recording in recordings():
        eta = recording.eta(share * recording.seconds)
        assert eta.seconds is not None
        yield eta.seconds / (recording.seconds * (1 - share))


def test_after_a_tenth_of_a_run_the_time_left_is_within_a_quarter_of_the_truth_in_26_of_30():
    close = [0.75 <= ratio <= 1.25 for ratio in ratios(0.1)]
    assert len(close) == 30
    assert sum(close) >= 26, f"{sum(close)} of {len(close)}"  # before times around steps were counted: 8


def test_before_a_host_has_measured_anything_a_range_holds_the_truth_in_nine_of_ten():
    held = []
    for recording in recordings():
        recording.earlier = []
        eta = recording.eta(-1.0)
        assert eta.is_rough
        held.append(eta.ends[0] <= recording.seconds <= eta.ends[1])
    assert sum(held) >= round(0.9 * len(held)), f"{sum(held)} of {len(held)}"
