"""Comparisons made and judged: families share their noise, floors and refusals hold, points are pooled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from stepgrid.model.plan import Axis
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT
from stepgrid.summarize.comparisons.comparison import (
    ComparedMetric,
    Comparison,
    Entry,
    comparison_table,
    ratio_intervals,
)
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.comparisons.conditions import Conditions
from stepgrid.summarize.comparisons.judgement import INSIDE, Evidence, compare, judge, mark_perhaps, pool
from stepgrid.summarize.comparisons.ladders import version_ladder
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.formats import csv_table
from tests.summarize import made

NOISE = np.random.default_rng(5).normal(0, 0.01, (8, 2, 3)).tolist()  # step, arm, load
ARM = Axis("arm", ("base", "other"))
P99 = ComparedMetric("p99_us", "us", "lower")
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


def test_eight_steps_find_what_one_alone_does_not() -> None:
    sections = [section(rates(noise, math.log(1.05)), step=f"s{number}") for number, noise in enumerate(NOISE)]
    alone = [entry(judged([one])) for one in sections]
    comparison = judged(sections)
    together = [entry(comparison, one.step) for one in sections]
    assert [one.ratio for one in together] == [one.ratio for one in alone]
    assert [sum(one.verdict == "faster" for one in entries) for entries in (alone, together)] == [5, 7]


@pytest.mark.parametrize(("floor", "verdict", "doubts"), [(0.03, "faster", ()), (0.08, "undecided", (INSIDE,))])
def test_a_difference_within_the_noise_floor_is_none(floor: float, verdict: str, doubts: tuple[str, ...]) -> None:
    case = entry(judged([section(SURE)], evidence(floor)))
    assert (case.verdict, case.floor, case.doubts) == (verdict, floor, doubts)


def test_a_refusal_takes_the_verdict_and_a_difference_as_shipped_does_not() -> None:
    refused = entry(judged([section(SURE)], evidence(refusal=lambda _, __: "assertions on one side")))
    assert (refused.verdict, refused.refusal) == (None, "assertions on one side")
    assert refused.ratio == pytest.approx(1.06, abs=1e-3)
    shipped = entry(judged([section(SURE)], evidence(shipped=lambda _, __: "suite bookworm / trixie")))
    assert (shipped.verdict, shipped.as_shipped) == ("faster", "suite bookworm / trixie")


def test_conditions_and_outliers_stand_beside_the_ratio() -> None:
    noise = np.random.default_rng(3).normal(0, 0.001, (4, 8))
    figures = {(arm,): (1000 * np.exp(logs)).tolist() for arm, logs in zip("abcd", noise, strict=True)}
    figures[("d",)][4] *= 2
    axis = Axis("arm", tuple("abcd"))
    comparison = judged([section(figures, [axis])], evidence(marks=lambda *_: ("kernel 6.1 / 6.12",)), {"arm": "a"})
    doubts = [case.entry.doubts for case in comparison.cases()]
    assert doubts[0] == ("kernel 6.1 / 6.12",)
    assert doubts[2] == ("kernel 6.1 / 6.12", "load 4 lies far from the others (2.00x); without it 1.00x")


def test_a_load_that_did_nothing_is_never_left_out() -> None:
    """Without it the arm would be the same: 1010, 1005 and 995 against about 1,000."""
    steps = [section({("base",): [1000, 1002, 998, 1001, 999], ("other",): [0, 1010, 0, 1005, 995]})]
    there, back = (entry(judged(steps, base={"arm": base})) for base in ("base", "other"))
    assert (there.verdict, there.ratio, there.interval) == ("undecided", None, None)
    assert there.idle == "2 of 5 loads did nothing (0 QPS)"
    assert back.idle == "of the base: 2 of 5 loads did nothing (0 QPS)"
    assert comparison_table(judged(steps)).rows[0][-1].text == "undecided †"


def test_an_arm_that_did_nothing_does_not_change_the_others() -> None:
    figures = {("base",): [1000, 1002, 998], ("other",): [1100, 1102, 1098], ("idle",): [0, 0, 0]}
    axis = Axis("arm", ("base", "other", "idle"))
    alone = entry(judged([section({labels: figures[labels] for labels in list(figures)[:2]}, [axis])]))
    other, idle = (case.entry for case in judged([section(figures, [axis])]).cases())
    assert other.interval == alone.interval
    assert (idle.verdict, idle.idle) == ("slower", "3 of 3 loads did nothing (0 QPS)")


@pytest.mark.parametrize(
    ("better", "base", "arm", "verdict", "idle"),
    [
        ("lower", [1.0, 1.1, 0.9], [0, 0, 0], "better", "errors is 0 in 3 of 3 loads"),
        ("higher", [1.0, 1.1, 0.9], [0, 0, 0], "worse", "errors is 0 in 3 of 3 loads"),
        ("lower", [0, 0, 0], [1.0, 1.1, 0.9], "worse", "of the base: errors is 0 in 3 of 3 loads"),
        (
            "lower",
            [0, 0, 0],
            [0, 0, 0],
            "same",
            "errors is 0 in 3 of 3 loads; of the base: errors is 0 in 3 of 3 loads",
        ),
        ("lower", [1.0, 1.1, 0.9], [0, 1, 0], "undecided", "errors is 0 in 2 of 3 loads"),
        ("lower", [1.0, 1.1], [0, 0], "undecided", "errors is 0 in 2 of 2 loads"),
        ("lower", [1.0, 1.1, 0.9], [-1, -2, -1], "undecided", "errors is below 0 in 3 of 3 loads"),
    ],
)
def test_a_side_at_0_in_all_loads_has_a_verdict(
    better: str, base: list[float], arm: list[float], verdict: str, idle: str
) -> None:
    step = section({("base",): base, ("other",): arm}, metric="errors")
    found = entry(judged([step], metric=ComparedMetric("errors", "errors", better)))
    assert (found.verdict, found.idle) == (verdict, idle)


# Others who use the host


def disturbed(loads: Sequence[int], arm: str = "other") -> Evidence:
    noise = {f"s-readww-{arm}-{load}/1": {"warning": "others used 90 % of a core"} for load in loads}
    tables = replace(made.tables([]), facts={"noise": noise}, units={"p99_us": "us"})
    return evidence(disturbance=Conditions(tables).disturbance)


@pytest.mark.parametrize(
    ("loads", "arm", "verdict"),
    [
        ((), "other", "faster"),
        ((1,), "other", "faster"),
        ((0, 2), "other", "undecided (host busy)"),
        ((0, 1, 2), "base", "undecided (host busy)"),
    ],
)
def test_most_loads_disturbed_decide_nothing(loads: Sequence[int], arm: str, verdict: str) -> None:
    comparison = judged([section(SURE)], disturbed(loads, arm))
    assert entry(comparison).verdict == verdict
    assert (f"host busy: {len(loads)} of 3 loads disturbed" in entry(comparison).doubts) == (len(loads) > 1)
    assert f"1.06 [1.05, 1.07] {verdict}" in comparison_table(comparison).rows[0][-1].text


@pytest.mark.parametrize(
    ("name", "unit", "is_disturbed"),
    [
        ("p99_us", "us", True),
        ("nopm", "orders/min", True),
        ("of_the_spec", "", True),
        ("stall_pct", "%", True),
        ("reads_per_op", "requests/operation", True),  # the device's, whoever asked for them
        ("log_bytes_per_op", "B/operation", False),
        ("rows_read_per_op", "rows/operation", False),
        ("index_bytes", "B", False),
        ("recall", "1", False),
        ("cpu_us_per_op", "us/operation", False),
        ("host_cpu_us_per_op", "us/operation", True),
    ],
)
def test_what_a_metric_is_decides_whether_others_change_it(name: str, unit: str, is_disturbed: bool) -> None:
    step = section(SURE, metric=name)
    found = entry(judged([step], disturbed((0, 1, 2)), metric=ComparedMetric(name, unit, "lower")))
    assert (found.verdict == "undecided (host busy)") == is_disturbed


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


def test_the_strongest_of_many_holds_among_all_of_them() -> None:
    """Of eight tables one difference is weak: it holds in its own, and not in the report."""
    strong = {("base",): [1000, 1002, 998], ("other",): [1300, 1302, 1298]}
    weak = {("base",): [1000, 1002, 998], ("other",): [1041, 1031, 1053]}
    sections = [section(strong, step="s0"), section(weak, step="s1")]
    sections += [section(rates(noise), step=f"n{number}") for number, noise in enumerate(NOISE)]
    (marked,) = mark_perhaps([judged(sections)], 0.02)
    found = {case.row.step: (case.entry.verdict, case.entry.perhaps) for case in marked.cases()}
    assert (found["s0"], found["s1"]) == (("faster", False), ("faster", True))
    (alone,) = mark_perhaps([judged([section(SURE)])], 0.02)
    assert not entry(alone).perhaps


def test_where_most_loads_are_far_off_none_is_an_outlier() -> None:
    quiet = [1001, 1002, 1003, 1001, 1002]
    figures = {("base",): [1000] * 5, **{(arm,): quiet for arm in "abcd"}, ("wild",): [500, 2000, 700, 1500, 1000]}
    axis = Axis("arm", tuple(arm for (arm,) in figures))
    *_, found = (case.entry for case in judged([section(figures, [axis])]).cases())
    assert found.outliers == ()
    assert found.doubts == ("its loads lie far apart (0.50x to 2.00x)",)


# Metrics


def test_a_shorter_latency_is_faster() -> None:
    steps = [section({("base",): [100.0, 101.0, 99.0], ("other",): [50.0, 50.5, 49.5]}, metric="p99_us")]
    case = entry(judged(steps, metric=P99))
    assert (case.verdict, case.ratio) == ("faster", pytest.approx(0.5))
    assert comparison_table(judged(steps, metric=P99)).title == "p99_us relative to arm=base"


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (ComparedMetric("rows", "rows/s", "higher"), ("faster", "slower")),
        (ComparedMetric("recall", "1", "higher"), ("better", "worse")),
        (ComparedMetric("bytes", "B", "lower"), ("worse", "better")),
        (ComparedMetric("qps_variation_pct", "%", "lower"), ("less even", "more even")),
        (ComparedMetric("keys", "", None), ("more", "less")),
    ],
)
def test_each_metric_has_its_words(metric: ComparedMetric, words: tuple[str, str]) -> None:
    assert metric.verdicts == words


def test_a_figure_of_0_has_no_ratio_in_any_metric() -> None:
    steps = [section({("base",): [100.0, 101.0], ("other",): [0.0, 50.0]}, metric="p99_us")]
    assert entry(judged(steps, metric=P99)).idle == "p99_us is 0 in 1 of 2 loads"


# Rows and columns


def test_steps_that_other_axes_touch_stand_in_one_comparison() -> None:
    build = Axis("build", ("r-1", "r-2", "r-3"))
    cache, threads = Axis("cache", ("lru", "hyper"), ("read",)), Axis("threads", ("1", "2"), ("read",))
    load = section({(name,): [100.0, 101.0] for name in build.labels}, [build], "load")
    read = section(
        {(name, *labels): [100.0, 101.0] for name in ("r-1", "r-3") for labels in (("lru", "1"), ("hyper", "2"))},
        [build, cache, threads],
        "read",
    )
    (comparison,) = compare([load, read], {"build": "r-1"}, None, ComparedMetric())
    assert (comparison.base, comparison.layout.down, comparison.arm_names) == (
        "r-1",
        ("cache", "threads"),
        ["r-2", "r-3"],
    )
    assert [(row.step, row.labels) for row in comparison.rows] == [
        ("load", (None, None)), ("read", ("lru", "1")), ("read", ("hyper", "2")),
    ]  # fmt: skip
    assert comparison.rows[1].entries[1].kind == ABSENT
    assert comparison.where(comparison.rows[2]) == "read, cache=hyper, threads=2"


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


def test_one_answer_for_a_value_of_an_axis() -> None:
    axes = (ARM, Axis("threads", ("1", "2", "4")))
    noise = np.random.default_rng(7).normal(0, 0.01, (3, 2, 5))
    figures = {
        (arm, threads): [(1.1 if arm == "other" else 1.0) * 1000 * math.exp(log) for log in noise[at][number]]
        for at, threads in enumerate(axes[1].labels)
        for number, arm in enumerate(ARM.labels)
    }
    comparison = judged([section(figures, axes)])
    (pooled,) = comparison.pooled
    ratios = [case.entry.ratio or 0.0 for case in comparison.cases()]
    assert pooled.ratio == pytest.approx(math.exp(np.mean(np.log(ratios))))
    assert (pooled.name, pooled.points, pooled.verdict, pooled.dissenting) == ("arm=other", 3, "faster", ())
    assert (pooled.lowest, pooled.highest) == (min(ratios), max(ratios))
    widest = max(
        case.entry.interval.high / case.entry.interval.low for case in comparison.cases() if case.entry.interval
    )
    assert pooled.interval is not None
    assert pooled.interval.high / pooled.interval.low < widest


def test_points_that_disagree_are_named_and_refused_ones_stay_out() -> None:
    axes = (ARM, Axis("threads", ("1", "2", "4")))
    steps = section(
        {
            ("base", "1"): [100, 101], ("other", "1"): [150, 151], ("base", "2"): [100, 101], ("other", "2"): [80, 81],
            ("base", "4"): [100, 101], ("other", "4"): [900, 901],
        },
        axes,
    )  # fmt: skip

    def refusal(point: Point, _: Point) -> str | None:
        return "elsewhere" if point.labels["threads"] == "4" else None

    (pooled,) = judged([steps], evidence(refusal=refusal)).pooled
    assert (pooled.points, pooled.dissenting) == (2, ("threads=2",))
    assert pooled.ratio == pytest.approx(math.sqrt(1.5 * 0.8), rel=0.01)


def test_a_step_without_the_metric_has_no_figure_of_it() -> None:
    figures = {(arm,): [100.0, 101.0] for arm in ARM.labels}
    sections = [section(figures, step="reads"), section(figures, step="writes", metric="rows_per_s")]
    (comparison,) = compare(sections, {"arm": "base"}, None, ComparedMetric("rows_per_s", "rows/s", "higher"))
    assert comparison.steps == ["writes"]


# Ladders


def test_a_rung_that_others_disturbed_is_in_no_level() -> None:
    axis = Axis("build", tuple(f"rocksdb-{number}.0" for number in range(1, 8)))
    figures = {(build,): [1000.0, 1001.0, 999.0] for build in axis.labels} | {("rocksdb-4.0",): [500.0, 501.0, 499.0]}
    points = section(figures, [axis]).points
    quiet = version_ladder([axis], points, evidence(), ComparedMetric())
    assert quiet is not None
    assert [change.rung for change in quiet.changes] == ["rocksdb-4.0", "rocksdb-5.0"]
    ladder = version_ladder([axis], points, disturbed((0, 1, 2), "rocksdb-4.0"), ComparedMetric())
    assert ladder is not None
    assert ladder.changes == ()
    assert ladder.sentences[-1] == "not judged: `rocksdb-4.0`, readww: host busy: 3 of 3 loads disturbed"
