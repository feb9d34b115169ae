"""Charts of a step: from the figures of its points, their series, clients and devices."""

import json

import pytest

from stepgrid.model.figures import ClientRate, Figures
from stepgrid.model.plan import PlannedAxis
from stepgrid.model.records import replace
from stepgrid.store.store import Store
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import Comparisons
from stepgrid.summarize.report_files import current_report
from stepgrid_page import step_charts
from stepgrid_page.drawing import PageMarks
from stepgrid_published.importer import ImportedStep
from stepgrid_published.results import plan_results, publish
from tests.page.test_chart_forms import texts, titles
from tests.summarize import made, scenario
from tests.summarize.synthetic import Experiment


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return scenario.report(scenario.experiment(tmp_path_factory.mktemp("charts")))


def bare(report, section):
    """Give a report one section, and nothing to compare."""
    return replace(report, comparisons=Comparisons((section,)))


def section(axes, points):
    """Make two loads of each point, 10 % apart in QPS."""
    return StepPoints("read", tuple(axes), tuple(point(number, *figures) for number, figures in enumerate(points)))


def point(number, labels, figures):
    runs = (made.run(f"c{number}", load, figures["qps"] * (1 + load / 10)) for load in (0, 1))
    return Point("read", labels, tuple(replace(run, metrics={**figures, **run.metrics}) for run in runs))


def imported(folder, driver, steps):
    plan, store = plan_results(driver, "title", "dir", steps), Store(folder / "outputs")
    publish(store, plan)
    return current_report(store, plan.plan)


# Latency, scaling, trade-offs


def test_qps_and_what_it_costs(report):
    points = [
        ({"cache": str(number)}, {"qps": qps, "write_amplification": cost})
        for number, (qps, cost) in enumerate([(100.0, 1.0), (300.0, 4.0), (200.0, 5.0), (250.0, 2.0)])
    ]
    grid = section([PlannedAxis("cache", ("0", "1", "2", "3"))], points)
    (chart,) = step_charts.trade_offs(bare(report, grid), grid, PageMarks())
    assert chart.title == "read: QPS and write amplification, up and to the left is better"
    assert "cache=1: 315 QPS, 4" in titles(chart.svg)
    for cost in (0.0, 1.0):
        alike = [(labels, {**figures, "write_amplification": cost}) for labels, figures in points]
        grid = section(grid.axes, alike)
        assert step_charts.trade_offs(bare(report, grid), grid, PageMarks()) == []


def test_recall_has_a_line_for_the_best_of_each_build(tmp_path):
    figures = {
        "MariaDB": [(0.8, 900.0), (0.95, 700.0), (0.9, 600.0), (0.99, 300.0)],
        "PGVector": [(0.9, 800.0), (1.0, 100.0)],
    }
    steps = [
        ImportedStep(build, "search", Figures({"recall": recall, "qps": qps}), variables={"ef_search": str(number)})
        for build, pairs in figures.items()
        for number, (recall, qps) in enumerate(pairs)
    ]
    report = imported(tmp_path, "vector_search", [*steps, ImportedStep("PGVector", "load", Figures({"qps": 10.0}))])
    charts = {
        section.step: step_charts.trade_offs(report, section, PageMarks()) for section in report.comparisons.sections
    }
    assert [chart.title for chart in charts["search"]] == ["search: QPS and recall, up and to the right is better"]
    assert len(titles(charts["search"][0].svg)) == 6
    assert charts["load"] == []


# Over time


SECONDS, STALLS = range(1, 21), (5, 12)


def rates(operation, rate):
    """Make rates of two clients, of which the second stands still twice."""
    return [
        ClientRate(client, float(second), operation, 0.0 if client and second in STALLS else rate + client)
        for client in range(2)
        for second in SECONDS
    ]


def test_each_client_has_a_line_with_stalls_and_its_part_of_the_target(tmp_path):
    def step(build, name, *parts, **metrics):
        series = [rate for part in parts for rate in part]
        return ImportedStep(build, name, Figures({"qps": 10.0, **metrics}, rates=series))

    target = {"inserts_per_s": 200.0, "target_inserts_per_s": 250.0}
    steps = [
        step("a", "l.i0", rates("insert", 5000.0), rates("delete", 5000.0)),
        step("a", "q100", rates("insert", 100.0), rates("query", 900.0), **target),
    ]
    report = imported(tmp_path, "insert_benchmark", steps)
    charts = [chart for part in report.comparisons.sections for chart in step_charts.client_rates(report, part)]
    assert [(chart.title.partition(",")[0], bool(chart.note)) for chart in charts] == [
        ("l.i0: rows inserted per second of each client", False),
        ("q100: rows inserted per second of each client", True),
        ("q100: queries per second of each client", False),
    ]
    assert charts[1].svg.count('class="stall"') == len(STALLS)
    assert charts[1].svg.count("stroke-dasharray") == 1
    metrics = {part.step: part.points[0].runs[0].metrics for part in report.comparisons.sections}
    assert metrics["l.i0"]["delete_stalled_pct"] == metrics["q100"]["query_stalled_pct"] == 5.0
    assert "query_stalled_pct" not in metrics["l.i0"]


BUILD = "rocksdb-7.8.3"
READS = (10, 10, 0, 30, *[10] * 8)  # MiB of each second


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    """Make two arms of twelve seconds, of which that of lru has samples of its device in one step."""
    experiment = Experiment(tmp_path_factory.mktemp("device"), threads=("1",), loads=1)
    experiment.add_build(BUILD)
    experiment.add_load(BUILD, 0)
    qps = [1000.0, 1000.0, 20.0, *[1000.0] * 9]
    for cache in experiment.caches:
        result = experiment.add(BUILD, cache, "1", 0, {"readww": qps, "overwrite": qps[:9]})
        if cache == "lru":
            (result / "steps/0-readww/samples.jsonl").write_text("".join(map(sample, range(13))))
            experiment.seal(result)
    return scenario.report(experiment)


def sample(second):
    sectors = 2048 * sum(READS[:second])
    counts = {"reads": second, "read_sectors": sectors, "writes": second, "write_sectors": 4096 * second}
    device = {**counts, "busy_ms": 500 * second, "read_ms": second, "write_ms": second}
    return json.dumps({"monotonic": 100.0 + second, "device": "vda", "devices": {"vda": device}}) + "\n"


def test_the_arms_of_a_group_are_lines_of_one_panel_from_ten_seconds_on(device):
    charts = {
        section.step: step_charts.over_time(device, section, PageMarks()) for section in device.comparisons.sections
    }
    assert {step: [chart.title for chart in members] for step, members in charts.items()} == {
        "fillseq": [],
        "readww": ["readww: QPS over time"],
        "overwrite": [],
    }
    (chart,) = charts["readww"]
    assert chart.svg.count('stroke-width="2.2"') == 2
    assert chart.svg.count('class="stall"') == 1, "both arms stood still in the same second"


def test_the_device_is_drawn_below_the_qps_of_an_arm(device):
    charts = [chart for part in device.comparisons.sections for chart in step_charts.devices(device, part, PageMarks())]
    assert [chart.title for chart in charts] == ["readww: QPS and the device over time, cache=lru"]
    assert {"QPS", "MiB/s", "busy %", "read", "written", "stalls"} <= set(texts(charts[0].svg))
