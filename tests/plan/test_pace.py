"""The estimated time left, over recorded runs: stages with the times of their steps, of cold stores on a busy host."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stepgrid.model.plan import PlannedStage
from stepgrid.model.records import StepRecord
from stepgrid.model.status import ActiveStep, ActiveWork, Eta, Result, add_times
from stepgrid.plan.pace import Forms, MeasuredStage, Pace, StepForm
from stepgrid.store.paths import TIME_FORMAT

BEGAN = datetime(2026, 11, 28, tzinfo=UTC).timestamp()
RUNS: Sequence[dict[str, Any]] = json.loads(Path(__file__).with_name("recorded_runs.json").read_text())


class RecordedForms(Forms):
    def __init__(self, run: dict[str, Any]) -> None:
        super().__init__()
        forms = [
            StepForm(engine, kind, str(index), declared, bool(is_timed))
            for index, (engine, kind, declared, is_timed) in enumerate(run["forms"])
        ]
        self.by_stage = {
            f"s-{index}": (engine, tuple(forms[at] for at, _, _ in steps))
            for index, (engine, *_, steps) in enumerate(run["stages"])
        }

    def engine_of(self, stage: PlannedStage) -> str:
        return self.by_stage[stage.id][0]

    def of(self, stage: PlannedStage) -> tuple[StepForm, ...]:
        return self.by_stage[stage.id][1]


class Recording:
    def __init__(self, run: dict[str, Any]) -> None:
        self.forms, self.records = RecordedForms(run), run["stages"]
        self.stages = [
            PlannedStage(f"s-{index}", "", "b", None if is_load else "s", (), 0, 0, "h", (0,) * len(steps), 1.0, 0)  # type: ignore[arg-type]
            for index, (_, is_load, *_, steps) in enumerate(self.records)
        ]
        self.seconds = self.records[-1][4]

    def eta(self, now: float) -> Eta:
        """Estimate what is left after so many seconds, as a status would."""
        pairs = [*zip(self.stages, self.records, strict=True)]
        running = [(stage, self._work(record, now)) for stage, record in pairs if record[3] <= now < record[4]]
        results = [
            MeasuredStage(stage, self._result(record), BEGAN + record[2]) for stage, record in pairs if record[4] <= now
        ]
        pace, at_work = Pace(self.forms, results, running), {stage.id: work for stage, work in running}
        ahead = [stage for stage, record in pairs if record[4] > now]
        return add_times(
            time
            for stage in ahead
            if (
                time := pace.remaining(stage, at_work[stage.id], BEGAN + now)
                if stage.id in at_work
                else pace.stage(stage)
            )
        )

    def _work(self, record: list[Any], now: float) -> ActiveWork:
        steps = [*enumerate(record[6])]
        ended = tuple((index, end - start) for index, (_, start, end) in steps if end <= now)
        begun = [(index, start, end) for index, (_, start, end) in steps if start <= now]
        if not begun:
            return ActiveWork((), since=BEGAN + record[3])
        index, start, end = begun[-1]
        step = ActiveStep("", "", index, len(steps), None, BEGAN + start, Path()) if end > now else None
        return ActiveWork((), since=BEGAN + record[3], step=step, index=index, ended=ended)

    def _result(self, record: list[Any]) -> Result:
        _, _, created, began, ended, waited, steps = record
        folder = Path(datetime.fromtimestamp(BEGAN + created, UTC).strftime(TIME_FORMAT))
        times = tuple(StepRecord(seconds=end - start) for _, start, end in steps)
        return Result(folder, seconds=ended - began, ended=BEGAN + ended, waited=waited, steps=times)


def ratios(share: float) -> Iterator[float]:
    """Divide the estimate by the truth, for each run, when a share of its time is over."""
    for recording in map(Recording, RUNS):
        eta = recording.eta(share * recording.seconds)
        assert eta.seconds is not None
        yield eta.seconds / (recording.seconds * (1 - share))


def test_after_a_tenth_of_a_run_the_time_left_is_within_a_quarter_of_the_truth_in_nine_of_ten() -> None:
    assert len(RUNS) >= 20
    close = [0.75 <= ratio <= 1.25 for ratio in ratios(0.1)]
    assert sum(close) >= round(0.9 * len(close)), f"{sum(close)} of {len(close)}"


def test_before_a_host_has_measured_anything_a_range_holds_the_truth_in_nine_of_ten() -> None:
    held = []
    for recording in map(Recording, RUNS):
        eta = recording.eta(-1.0)
        assert eta.is_rough
        held.append(eta.ends[0] <= recording.seconds <= eta.ends[1])
    assert sum(held) >= 0.9 * len(held), f"{sum(held)} of {len(held)}"
