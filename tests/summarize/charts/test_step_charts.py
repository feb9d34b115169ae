"""Which charts a step has: from the figures of its points, their series, clients and devices to the page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stepgrid.model.figures import ClientRate, Figures
from stepgrid.model.plan import Axis
from stepgrid.plugins.importer import ImportedStep
from stepgrid.store.store import Store
from stepgrid.summarize.charts import drawing, report_charts, step_charts
from stepgrid.summarize.comparisons.comparison import BASE, RATIO, ComparedMetric, Comparison, Entry, Row
from stepgrid.summarize.comparisons.comparison_axes import Layout, Section
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import DeviceSecond
from stepgrid.summarize.page.html import page
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_files import current_report
from stepgrid.transfer.published import plan_results, publish
from tests.summarize import made, scenario
from tests.summarize.charts.test_forms import titles
from tests.summarize.synthetic import Experiment

THREADS = Axis("threads", ("1", "2", "16"))
CACHES = Axis("cache", ("lru", "hyper"))


def section(axes: Sequence[Axis], points: Sequence[tuple[Mapping[str, str], Mapping[str, float]]]) -> Section:
    """Make two loads of each point, 10 % apart in QPS."""
    return Section("read", tuple(axes), tuple(point(number, *figures) for number, figures in enumerate(points)))


def point(number: int, labels: Mapping[str, str], figures: Mapping[str, float]) -> Point:
    runs = (made.run(f"c{number}", load, figures["qps"] * (1 + load / 10)) for load in (0, 1))
    return Point("read", labels, tuple(replace(run, metrics={**figures, **run.metrics}) for run in runs))


def report_of(folder: Path, driver: str, steps: Sequence[ImportedStep]) -> Report:
    plan, store = plan_results(driver, "title", "dir", steps), Store(folder / "outputs")
    publish(store, plan)
    return current_report(store, plan.plan)


# Along an axis of numbers


def test_a_line_for_each_arm_along_an_axis_of_numbers() -> None:
    points = [
        ({"cache": cache, "threads": threads}, {"qps": 100.0 * int(threads) * (1 + number)})
        for number, cache in enumerate(CACHES.labels)
        for threads in THREADS.labels
    ]
    (picture,) = step_charts.scaling(section([CACHES, THREADS], points))
    assert picture.title == "read: QPS by threads"
    assert titles(picture.svg)[:4] == [
        "cache=lru 1: 105",
        "cache=lru 2: 210",
        "cache=lru 16: 1.7k",
        "cache=hyper 1: 210",
    ]


@pytest.mark.parametrize(
    ("name", "labels", "is_numeric"),
    [
        ("size", ("1", "2"), False),
        ("size", ("a", "2", "3"), False),
        ("size", ("8KiB", "16KiB", "1MiB"), True),
        ("size", ("10m", "1h", "2h"), True),
        ("build", ("9.8", "9.9", "9.10"), False),
    ],
)
def test_which_axis_is_one_of_numbers(name: str, labels: tuple[str, ...], is_numeric: bool) -> None:
    assert (step_charts.numeric_axis(section([CACHES, Axis(name, labels)], [])) is not None) == is_numeric


def test_many_arms_have_a_chart_for_each_label_of_the_first_axis() -> None:
    builds, caches = Axis("build", ("old", "new")), Axis("cache", tuple("abcdef"))
    points = [
        ({"build": build, "cache": cache, "threads": threads}, {"qps": 10.0})
        for build in builds.labels
        for cache in caches.labels
        for threads in THREADS.labels
    ]
    pictures = step_charts.scaling(section([builds, caches, THREADS], points))
    assert [picture.title for picture in pictures] == ["read: QPS by threads, old", "read: QPS by threads, new"]


# Figures of points


def test_qps_and_what_it_costs() -> None:
    points = [
        ({"cache": str(number)}, {"qps": qps, "write_amplification": cost})
        for number, (qps, cost) in enumerate([(100.0, 1.0), (300.0, 4.0), (200.0, 5.0), (250.0, 2.0)])
    ]
    axes = [Axis("cache", ("0", "1", "2", "3"))]
    (picture,) = step_charts.trade_offs(section(axes, points))
    assert picture.title == "read: QPS and write amplification; on the line: cache=0; cache=3; cache=1"
    assert "cache=1: 315 QPS, 4" in titles(picture.svg)
    alike = [(labels, {**figures, "write_amplification": 1.0}) for labels, figures in points]
    assert step_charts.trade_offs(section(axes, alike)) == []


def test_memory_is_that_of_the_server_where_there_is_one() -> None:
    points = [
        ({"cache": f"{at}"}, {"qps": 100.0 * at, "process_max_rss_bytes": 30e6 * at, "server_rss_bytes": 4e8 * at})
        for at in range(1, 5)
    ]
    axes = [Axis("cache", ("1", "2", "3", "4"))]
    (picture,) = step_charts.trade_offs(section(axes, points))
    assert picture.title.startswith("read: QPS and memory of the server; on the line: cache=1; ")
    for _, figures in points:
        del figures["server_rss_bytes"]
    (picture,) = step_charts.trade_offs(section(axes, points))
    assert picture.title.startswith("read: QPS and memory; on the line: ")


def test_response_times() -> None:
    times = {"p50_us": 10.0, "p99_us": 100.0, "p99_9_us": 0.0}
    points = [({"cache": cache}, {"qps": 10.0, **times}) for cache in CACHES.labels]
    picture = step_charts.response_times(section([CACHES], points))
    assert picture is not None
    assert "cache=lru p99: 100 µs" in titles(picture.svg)
    assert "cache=lru p99.9" not in picture.svg
    assert step_charts.response_times(section([CACHES], points[:1])) is None


def test_searches_with_recall_are_marks_and_the_best_of_each_build_are_joined(tmp_path: Path) -> None:
    figures = {
        "MariaDB": [(0.8, 900.0), (0.95, 700.0), (0.9, 600.0), (0.99, 300.0)],
        "PGVector": [(0.9, 800.0), (1.0, 100.0)],
    }
    steps = [
        ImportedStep(build, "search", Figures({"recall": recall, "qps": qps}), variables={"ef_search": str(number)})
        for build, pairs in figures.items()
        for number, (recall, qps) in enumerate(pairs)
    ]
    steps.append(ImportedStep("PGVector", "load", Figures({"qps": 10.0})))
    steps += [ImportedStep(build, "exact", Figures({"recall": 1.0, "qps": 10.0})) for build in figures]
    report = report_of(tmp_path, "vector_search", steps)
    pictures = {part.step: step_charts.recall(part) for part in report.comparisons.sections}
    assert {step: picture and picture.title for step, picture in pictures.items()} == {
        "search": "search: recall and QPS",
        "load": None,
        "exact": None,
    }
    assert pictures["search"] is not None
    assert len(titles(pictures["search"].svg)) == 6
    assert sorted(line.count("L") + 1 for line in re.findall(r'd="(M[^"]+)" fill="none"', pictures["search"].svg)) == [
        2,
        3,
    ]
    html = page(report)
    assert html.count("<h3>Recall and QPS</h3>") == 1
    assert 'aria-label="search: recall and QPS"' in html


# Ratios of a whole report


def test_a_map_of_many_arms() -> None:
    arms = tuple((f"r-{number}",) for number in range(8))
    entries = (
        Entry(BASE),
        *(Entry(RATIO, ratio=0.5 + at / 5, verdict="slower" if not at else "same") for at in range(7)),
    )
    rows = tuple(Row(step, (), entries) for step in ("load", "read"))
    layout = Layout({"build": "r-0"}, ("build",), ())
    picture = report_charts.map_chart(Comparison(ComparedMetric(), layout, arms, rows))
    assert picture is not None
    assert picture.title == "QPS relative to r-0, all arms"
    assert picture.svg.count(">0.50</text>") == picture.svg.count('font-weight="bold"') == 2
    assert report_charts.map_chart(Comparison(ComparedMetric(), layout, arms[:3], rows)) is None


# Over time


def test_of_many_arms_those_drawn_have_each_label_of_each_axis() -> None:
    arms = [f"{build} {clients} {data}" for build in "abcd" for clients in "12" for data in ("cached", "io")]
    assert step_charts.spread(arms, 16) == arms
    chosen = step_charts.spread(arms, 8)
    assert len(set(chosen)) == 8
    assert chosen == sorted(chosen)
    for position, labels in enumerate(("abcd", "12", ("cached", "io"))):
        assert {arm.split()[position] for arm in chosen} == {*labels}
    for total in range(2, 60):
        assert len(set(step_charts.spread(range(total), max(1, total // 3)))) == max(1, total // 3)


SECONDS, STALLS = range(1, 21), (5, 12)


def rates(operation: str, rate: float) -> list[ClientRate]:
    """Make rates of two clients, of which the second stands still twice."""
    return [
        ClientRate(client, float(second), operation, 0.0 if client and second in STALLS else rate + client)
        for client in range(2)
        for second in SECONDS
    ]


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Report:
    def step(build: str, name: str, *parts: Sequence[ClientRate], **metrics: float) -> ImportedStep:
        series = [rate for part in parts for rate in part]
        return ImportedStep(build, name, Figures({"qps": 10.0, **metrics}, rates=series))

    target = {"inserts_per_s": 200.0, "target_inserts_per_s": 250.0}
    steps = [
        step("a", "l.i0", rates("insert", 5000.0), rates("delete", 5000.0)),
        step("a", "q100", rates("insert", 100.0), rates("query", 900.0), **target),
        step("b", "l.i0", rates("insert", 9000.0)),
        step("b", "q100", rates("insert", 100.0), rates("query", 400.0), **target),
    ]
    return report_of(tmp_path_factory.mktemp("rates"), "insert_benchmark", steps)


def test_each_client_has_a_line_with_stalls_and_its_part_of_the_target(clients: Report) -> None:
    """Deletes go with the inserts, and are in the table alone."""
    charts = {
        (part.step, chart.title): chart
        for part in clients.comparisons.sections
        for chart in step_charts.client_rates(clients, part)
    }
    assert {key: (len(chart.pictures), chart.has_targets) for key, chart in charts.items()} == {
        ("l.i0", "rows inserted per second"): (2, False),
        ("q100", "rows inserted per second"): (2, True),
        ("q100", "queries per second"): (2, False),
    }
    svg = charts["q100", "rows inserted per second"].pictures[0].svg
    assert svg.count(f'stroke="{drawing.STALL}"') == len(STALLS)
    assert svg.count("stroke-dasharray") == 1
    assert svg.count('fill="none"') == 2


def test_the_page_shows_them_and_says_what_a_stall_is(clients: Report) -> None:
    html = page(clients)
    assert html.count("<h3>Rows inserted per second, by client</h3>") == 2
    assert html.count("<h3>Queries per second, by client</h3>") == 1
    assert html.count("Dashed: what each client was asked for.") == 1
    stalls = "are stalls: seconds in which a client did nothing, or less than a tenth of its median second."
    assert html.count(stalls) == 3
    labels = re.findall(r'<svg role="img" aria-label="(q100, a: .+?)"', html)
    assert labels == [f"q100, a: {title} of each client over time" for title in step_charts.RATES.values()]


def test_how_much_stalled_is_a_figure(clients: Report) -> None:
    metrics = {part.step: part.points[0].runs[0].metrics for part in clients.comparisons.sections}
    assert metrics["l.i0"]["delete_stalled_pct"] == metrics["q100"]["query_stalled_pct"] == 5.0
    assert metrics["q100"]["target_met"] == 0.0
    assert "query_stalled_pct" not in metrics["l.i0"]


BUILD = "rocksdb-7.8.3"
READS = (10, 10, 0, 30, 10, 10)  # MiB of each second


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Make two arms, of which that of lru has samples of its device in one step."""
    experiment = Experiment(tmp_path_factory.mktemp("device"), threads=("1",), loads=1)
    experiment.add_build(BUILD)
    experiment.add_load(BUILD, 0)
    qps = [1000.0, 1000.0, 20.0, 1000.0, 1000.0, 1000.0]
    for cache in experiment.caches:
        result = experiment.add(BUILD, cache, "1", 0, {"readww": qps, "overwrite": qps})
        if cache == "lru":
            (result / "steps/0-readww/samples.jsonl").write_text("".join(map(sample, range(7))))
            experiment.seal(result)
    return scenario.report(experiment)


def sample(second: int) -> str:
    sectors = 2048 * sum(READS[:second])
    counts = {"reads": second, "read_sectors": sectors, "writes": second, "write_sectors": 4096 * second}
    device = {**counts, "busy_ms": 500 * second, "read_ms": second, "write_ms": second}
    return json.dumps({"monotonic": 100.0 + second, "device": "vda", "devices": {"vda": device}}) + "\n"


def test_the_seconds_of_the_device(device: Report) -> None:
    (readww, _) = (part for part in device.comparisons.sections if part.step != "fillseq")
    (seconds,) = device.data.details.device_seconds(
        [run.place for point in readww.points for run in point.runs]
    ).values()
    assert [second.read for second in seconds] == pytest.approx(READS[: len(seconds)])
    assert seconds[0] == DeviceSecond(1.0, pytest.approx(10), pytest.approx(2), pytest.approx(50))


def test_a_chart_for_each_arm_that_has_both(device: Report) -> None:
    pictures = {part.step: step_charts.devices(device, part) for part in device.comparisons.sections}
    assert {step: [picture.title for picture in charts] for step, charts in pictures.items()} == {
        "fillseq": [],
        "readww": ["cache=lru"],
        "overwrite": [],
    }
    (chart,) = pictures["readww"]
    assert 'aria-label="readww, cache=lru: QPS, stalls and the device over time"' in chart.svg
    assert chart.svg.count(drawing.STALL) == 1, "of a second that had a fiftieth of the others"
    names = re.findall(r">(QPS|MiB/s|busy %|seconds|read|written)</text>", chart.svg)
    assert names == ["QPS", "MiB/s", "busy %", "seconds", "read", "written"]
    assert chart.svg in page(device)
