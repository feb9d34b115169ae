"""Two sets of results as the arms of one report, by figures that are easy to check by hand."""

import re

import pytest

from stepgrid.collect.job import collect
from stepgrid.model.plan import PlannedAxis
from stepgrid.model.records import replace
from stepgrid.summarize import summary_text
from stepgrid.summarize.comparisons.comparison import BASE, RATIO, ArmEntry, ComparedMetric, ComparedPoint, Comparison
from stepgrid.summarize.comparisons.comparison_axes import ComparisonLayout
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid_inspect.compare import NotComparable, compare_sets, reproduction_sentences, stored_results
from stepgrid_page import html_page
from tests.summarize import made
from tests.summarize.synthetic import Experiment

OLD, NEW, NEWEST = "rocksdb-6.11.4", "rocksdb-7.8.3", "rocksdb-9.10.0"
LEVELS = (1.0, 1.01, 0.99)


def measured(root, name, hyper=1.0, levels=LEVELS, **options):
    """Measure loads of these speeds; `hyper`: the speed of this cache."""
    experiment = Experiment(root, loads=len(levels), **options)
    for build in experiment.builds:
        experiment.add_build(build)
        for load, level in enumerate(levels):
            experiment.add_load(build, load, 300_000 * level)
            for cache in experiment.caches:
                for threads in experiment.threads:
                    rate = 10_000 * level * int(threads) * (hyper if cache == "hyper" else 1.0)
                    experiment.add(build, cache, threads, load, {"readww": rate, "overwrite": 2 * rate})
    collect(experiment.store, experiment.plan)
    return stored_results(experiment.store, experiment.plan.digest, name)


def test_points_are_compared_between_the_sets(tmp_path):
    first, second = measured(tmp_path / "1", "then"), measured(tmp_path / "2", "now", 0.8, (1.002, 1.012, 0.994))
    report = compare_sets(first, second, ())
    text = summary_text.text(report, None)
    assert "LRU against hyper-clock cache: now against then\n=" in text
    assert re.search(r"^  readww +lru +2 +20.0k ± 3 % +0.31 % +1.00 \[1.00, 1.01\] same$", text, re.MULTILINE)
    assert re.search(r"^  readww +hyper +2 +20.0k ± 3 % +0.31 % +0.80 \[0.80, 0.81\] slower$", text, re.MULTILINE)
    assert "relative QPS" not in text, "the comparison says it"
    ratio = "0.80× [0.80, 0.81]"
    assert report.notes.reproduction == (
        "reproduced within 2 % at 5 of 9 points",
        f"not reproduced at 4: readww, cache=hyper, threads=1 {ratio}; readww, cache=hyper, threads=2 {ratio}; "
        f"overwrite, cache=hyper, threads=1 {ratio}; and 1 more",
    )
    assert report.against is not None
    other = report.against({"results": "now"})
    assert (other.notes.differs, other.tables) == (report.notes.differs, report.tables)
    assert other.notes.reproduction[0] == "reproduced within 2 % at 5 of 9 points"


def test_values_that_a_step_takes_by_itself_are_points_of_their_own(tmp_path):
    first, second = measured(tmp_path / "1", "then"), measured(tmp_path / "2", "now")

    def live(side, ratio):
        """Let the two steps of a stage be one with two values that its cell does not know."""
        header = replace(side.header, axes=(*side.header.axes, PlannedAxis("clients", ("1", "2"), ("readww",))))
        ratios = {"readww": ("1", 1.0), "overwrite": ("2", ratio)}
        runs = [
            replace(run, step="readww", labels={**run.labels, "clients": clients}, metrics={"qps": 1000 * factor})
            for run in side.tables.runs
            if run.step in ratios
            for clients, factor in [ratios[run.step]]
        ]
        return replace(side, header=header, tables=replace(side.tables, runs=tuple(runs)))

    report = compare_sets(live(first, 1.0), live(second, 0.5), ())
    rows = report.comparisons.all[0].rows
    assert {(row.labels[-1], round(row.entries[1].ratio, 2)) for row in rows} == {("1", 1.0), ("2", 0.5)}


def test_a_wide_interval_is_undecided_whatever_the_noise_floor():
    point = made.point(made.run("a", 0, 1000.0))
    entry = ArmEntry(RATIO, point, Interval(0.26, 0.05, 1.35, 3), 0.26, "undecided", floor=4.0)
    layout, row = (
        ComparisonLayout({"results": "then"}, ("results",), ()),
        ComparedPoint("readww", (), (ArmEntry(BASE, point), entry)),
    )
    qps = Comparison(ComparedMetric(), layout, (("then",), ("now",)), (row,))
    undecided = ["reproduced within 2 % at 0 of 1 point", "undecided at 1: readww 0.26× [0.05, 1.35]"]
    assert list(reproduction_sentences([qps], 0.02)) == undecided
    refused = replace(row, entries=(row.entries[0], replace(entry, verdict=None, refusal="unequal durability")))
    sentences = list(reproduction_sentences([replace(qps, rows=(refused,))], 0.02))
    assert sentences[1:] == ["no verdict at 1: readww 0.26× [0.05, 1.35]"]
    same = replace(row, entries=(row.entries[0], replace(entry, verdict="same")))
    latency = replace(qps, metric=ComparedMetric("p99_us", "us", "lower"), rows=(same,))
    assert list(reproduction_sentences([qps, latency], 0.02)) == [
        *(f"QPS: {sentence}" for sentence in undecided),
        "p99_us: reproduced within 2 % at 1 of 1 point",
    ]


def test_a_result_of_both_sets_is_one_result(tmp_path):
    first = measured(tmp_path, "then")
    report = compare_sets(first, replace(first, name="now"), ())
    assert report.comparisons.all == ()
    assert report.notes.reproduction[0] == "both sets are the same runs: they reproduce nothing"
    assert report.notes.coverage.total == 3 + 2 * 4 * 3  # a load, and two steps at four points, each once


def test_an_axis_with_one_label_in_each_set_is_a_difference(tmp_path):
    first, second = measured(tmp_path / "1", "a", builds=(OLD,)), measured(tmp_path / "2", "b", builds=(NEW,))
    report = compare_sets(first, second, ())
    assert report.notes.differs[1:3] == (f"build: {OLD} -> {NEW}", "build.version: 6.11.4 -> 7.8.3")
    assert [axis.name for axis in report.setup.axes] == ["results", "cache", "threads"]
    lines = f"\n  measured: {first.days} -> {second.days}\n  build: {OLD} -> {NEW}\n"
    assert lines in summary_text.text(report, None)
    assert f"build: {OLD} -&gt; {NEW}<br>" in html_page.page(report)


def test_cells_without_a_partner_are_counted(tmp_path):
    first = measured(tmp_path / "1", "a", threads=("1", "2", "4"))
    second = measured(tmp_path / "2", "b", threads=("2", "1"), caches=("lru", "hyper", "clock"))
    report = compare_sets(first, second, ())
    counts = ("2 cells of the first set, which the other lacks", "2 cells of the second set, which the other lacks")
    assert report.notes.left_out == counts
    assert {axis.name: axis.labels for axis in report.setup.axes}["threads"] == ("2", "1")
    assert f"\n  {counts[0]}\n  {counts[1]}\n" in summary_text.text(report, None)


def test_labels_narrow_the_set_that_has_them(tmp_path):
    first = measured(tmp_path / "1", "a", builds=(OLD, NEW))
    second = measured(tmp_path / "2", "b", builds=(NEWEST,))
    with pytest.raises(NotComparable) as caught:
        compare_sets(first, second, ())
    assert str(caught.value) == (
        f"the sets share no label of axis `build` (first: {OLD}, {NEW}; second: {NEWEST}); "
        f"--where build={OLD} --where build={NEWEST} compares two of them"
    )
    report = compare_sets(first, second, [("build", NEW), ("build", NEWEST)])
    assert f"build: {NEW} -> {NEWEST}" in report.notes.differs
