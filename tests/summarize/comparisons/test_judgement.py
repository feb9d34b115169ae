"""Comparisons made and judged: families share their noise, floors and refusals hold, points are pooled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from stepgrid.model.plan import Axis
from stepgrid.model.status import Status
from stepgrid.summarize.comparisons.comparison import (
    ComparedMetric,
    Comparison,
    Entry,
    comparison_table,
    ratio_intervals,
)
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.comparisons.conditions import Conditions
from stepgrid.summarize.comparisons.judgement import INSIDE, Evidence, compare, judge, pool
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.formats import csv_table
from tests.summarize import made

NOISE = np.random.default_rng(5).normal(0, 0.01, (8, 2, 3)).tolist()  # step, arm, load
ARM = Axis("arm", ("base", "other"))
Figures = Mapping[tuple[str, ...], Sequence[float]]  # labels -> figure of each load


class Floor:
    """A noise floor that is the same everywhere."""

    def __init__(self, height: float | None) -> None:
        self.height = height

    def floor(self, *_: object) -> float | None:
        return self.height


def evidence(floor: float | None = None, **facts: object) -> Evidence:
    return Evidence({}, 0.02, Floor(floor), **facts)  # type: ignore[arg-type]


def section(figures: Figures, axes: Sequence[Axis] = (ARM,), step: str = "readww", metric: str = "qps") -> Section:
    points = []
    for labels, loads in figures.items():
        name = "-".join(labels)
        runs = [
            replace(
                made.run(name, load, 0.0),
                step=step,
                place=(f"s-{step}-{name}-{load}", 0),
                metrics={metric: value},
            )
            for load, value in enumerate(loads)
        ]
        at = {axis.name: label for axis, label in zip(axes, labels, strict=True)}
        points.append(Point(step, at, tuple(runs)))
    return Section(step, tuple(axes), tuple(points))


def judged(
    sections: Sequence[Section],
    beside: Evidence | None = None,
    base: Mapping[str, str] | None = None,
    metric: ComparedMetric | None = None,
) -> Comparison:
    axes = sections[0].axes
    unjudged = compare(sections, base or {"arm": "base"}, None, metric or ComparedMetric())
    (comparison,) = judge(unjudged, beside or evidence(), axes, ratio_intervals(unjudged))
    return pool(comparison, sections, beside or evidence())


def entry(comparison: Comparison, step: str | None = None) -> Entry:
    (case,) = (case for case in comparison.cases() if step in (None, case.row.step))
    return case.entry


def rates(noise: Sequence[Sequence[float]], apart: float = 0.0) -> Figures:
    """Two arms, of which the other is so much faster."""
    shifted = [noise[0], [log + apart for log in noise[1]]]
    return {(arm,): [1000 * math.exp(log) for log in logs] for arm, logs in zip(ARM.labels, shifted, strict=True)}


SURE: Figures = {("base",): [1000, 1002, 998], ("other",): [1060, 1062, 1058]}


@pytest.mark.parametrize(("floor", "verdict", "doubts"), [(0.03, "faster", ()), (0.08, "undecided", (INSIDE,))])
def test_a_difference_within_the_noise_floor_is_none(floor: float, verdict: str, doubts: tuple[str, ...]) -> None:
    case = entry(judged([section(SURE)], evidence(floor)))
    assert (case.verdict, case.floor, case.doubts) == (verdict, floor, doubts)


# Others who use the host


def disturbed(loads: Sequence[int], arm: str = "other") -> Evidence:
    noise = {f"s-readww-{arm}-{load}/1": {"warning": "others used 90 % of a core"} for load in loads}
    tables = replace(made.tables([]), facts={"noise": noise}, units={"p99_us": "us"})
    return evidence(disturbance=Conditions(tables).disturbance)


def test_totals_of_a_step_that_did_more_follow_the_host() -> None:
    def bytes_written(operations: float) -> list[Point]:
        amounts = {"b": 1.0, "o": operations}
        return [
            made.point(*(made.run(arm, load, 1.0, operations=1000 * amount, wal_bytes=9.0) for load in range(3)))
            for arm, amount in amounts.items()
        ]

    noise = {f"s-o-{load}-0/1": {"warning": "others"} for load in range(3)}
    conditions = Conditions(replace(made.tables([]), facts={"noise": noise}, units={"wal_bytes": "B"}))
    assert conditions.disturbance("wal_bytes", bytes_written(1.005)) == ""
    assert conditions.disturbance("wal_bytes", bytes_written(1.2)) == "host busy: 3 of 3 loads disturbed"


# Metrics


# Rows and columns


def test_rows_that_compare_nothing_are_left_out_but_a_failed_base_is_shown() -> None:
    axes = (Axis("build", ("r-1", "r-2", "r-3")), Axis("cache", ("lru", "hyper", "none")))
    whole = section({("r-1", "lru"): [1.0, 1.0], ("r-2", "lru"): [1.5, 1.5], ("r-2", "hyper"): [1.0, 1.0],
                     ("r-3", "hyper"): [1.0, 1.0], ("r-1", "none"): [1.0], ("r-2", "none"): [1.0]}, axes)  # fmt: skip
    failed = [
        replace(point, runs=tuple(replace(run, status=Status.FAILED, metrics={}) for run in point.runs))
        if point.labels == {"build": "r-1", "cache": "none"} else point
        for point in whole.points
    ]  # fmt: skip
    (comparison,) = compare([replace(whole, points=tuple(failed))], {"build": "r-1"}, None, ComparedMetric())
    assert comparison.arm_names == ["r-2"]
    assert [row.labels for row in comparison.rows] == [("lru",), ("none",)]


def test_runs_at_several_points_are_judged_once() -> None:
    axes = (ARM, Axis("threads", ("1", "2")))
    steps = section({(arm, "1"): [100.0, 101.0] for arm in ARM.labels}, axes)
    again = [replace(point, labels={**point.labels, "threads": "2"}) for point in steps.points]
    (comparison,) = compare([replace(steps, points=(*steps.points, *again))], {"arm": "base"}, None, ComparedMetric())
    assert [row.entries[1].kind for row in comparison.rows] == ["ratio", "same as"]
    assert comparison.rows[1].entries[1].same == "threads=1"


def test_data_have_ratio_interval_verdict_and_what_recomputes_the_interval_in_columns() -> None:
    text = csv_table(comparison_table(judged([section(SURE)])))
    heads, row = (line.split(",") for line in text.splitlines()[1:3])
    values = {head.removeprefix("arm=other").strip(): value for head, value in zip(heads, row, strict=True)}
    assert [*values] == [
        *("step", "arm=base QPS", "", "low", "high", "verdict"),
        *("ratios", "deviation", "freedom", "critical"),
    ]
    assert (values["step"], values["arm=base QPS"], values["verdict"]) == ("readww", "999.9986667", "faster")
    ratios = [float(value) for value in values["ratios"].split()]
    mean = sum(map(math.log, ratios)) / len(ratios)
    reach = float(values["critical"]) * float(values["deviation"]) / math.sqrt(len(ratios))
    ends = [float(values[name]) for name in ("low", "", "high")]
    assert ends == pytest.approx([math.exp(mean - reach), math.exp(mean), math.exp(mean + reach)])


# Pooled ratios


# Ladders
