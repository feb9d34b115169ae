"""Charts of a report: figures and ratios of what it compares, and a chart as a file."""

import pytest

from stepgrid.model.figures import Figures
from stepgrid.model.records import replace
from stepgrid.summarize.comparisons.comparison import ArmEntry, ComparedMetric
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.report_formats import NoForm
from stepgrid_page import report_charts
from stepgrid_page.drawing import PageMarks
from stepgrid_page.markdown_post import compact_table
from stepgrid_published.importer import ImportedStep
from tests.needs import needs
from tests.page.test_chart_forms import texts, titles
from tests.page.test_step_charts import bare, imported
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return scenario.report(scenario.experiment(tmp_path_factory.mktemp("charts")))


# Figures and ratios


def test_the_main_chart_has_the_figures_of_the_first_comparison_and_its_ratios(report):
    chart = report_charts.main_chart(report, PageMarks())
    assert (chart.title, set(chart.views)) == (
        "QPS",
        {"linear", "ratio"} if "linear" in chart.views else {"log", "ratio"},
    )
    assert "readww, cache=hyper, threads=1, rocksdb-7.8.3: 15.0k ± 3 %, 1.50× [1.49, 1.51] faster" in titles(chart.svg)
    assert titles(chart.svg) == titles(chart.narrow)
    assert {"◀ slower", "faster ▶"} & set(texts(chart.views["ratio"][0]))
    assert chart.note == "Dots: single loads; bars: 95 % intervals, an arrow where one goes on."
    assert any(text.startswith("15.0k ± 3 % · p99 ") for text in texts(chart.svg))


def test_a_large_grid_is_a_heat_map_with_a_row_for_each_point_the_worst_first(report, tmp_path):
    threads = tuple(str(2**power) for power in range(14))
    experiment = Experiment(tmp_path, threads=threads, loads=2)
    experiment.add_build("rocksdb-7.8.3")
    for load in range(2):
        experiment.add_load("rocksdb-7.8.3", load)
        for number, count in enumerate(threads):
            experiment.add("rocksdb-7.8.3", "lru", count, load, dict.fromkeys(("readww", "overwrite"), 1000.0 + load))
            qps = (1000.0 + load) * (1 + number / 10)
            experiment.add("rocksdb-7.8.3", "hyper", count, load, dict.fromkeys(("readww", "overwrite"), qps))
    chart = report_charts.main_chart(scenario.report(experiment), PageMarks())
    drawn = titles(chart.svg)
    assert len(drawn) == 56
    assert drawn[1] == "readww, threads=1, cache=hyper: 1.00k, 1.00× [0.74, 1.36] undecided"
    assert drawn[-1].startswith("overwrite, threads=8192, cache=hyper: 2.30k, 2.30× [")
    assert chart.note == "▲ faster, ▼ slower: the whole 95 % interval is more than 2 % from 1; ? undecided."


def test_a_long_heat_map_draws_rows_with_ratios_the_worst_and_the_best_and_a_zero_is_coloured(report):
    comparison = report.comparisons.all[0]
    case = next(iter(comparison.cases()))
    base, failed = case.row.entries[0], ArmEntry("failed")
    zero = replace(case.entry, ratio=None, interval=None, verdict="slower", idle="3 of 3 loads did nothing")
    entries = [replace(case.entry, ratio=1.0 + number / 100) for number in range(24)]
    rows = tuple(
        replace(case.row, step=f"q{number}", entries=(base, entry))
        for number, entry in enumerate([*entries, zero, *[failed] * 25])
    )
    long = replace(comparison, rows=rows)
    chart = report_charts.heat_map(report, long, PageMarks())
    drawn = [title.partition(",")[0] for title in titles(chart.svg)][::2]
    assert drawn == ["q24", *(f"q{number}" for number in range(24))]
    assert chart.note.endswith(" 25 rows have no ratio; the table has all.")
    assert "3 of 3 loads did nothing, slower" in titles(chart.svg)[1]
    assert chart.svg.count('down"') == chart.narrow.count('down"') == 1
    assert compact_table(long).rows[24][-1].text.endswith(" ▼")
    assert compact_table(long).rows[24][-1].kind == "slower"
    many = replace(long, metric=ComparedMetric("flushes", "", None), rows=rows[:24] * 2)
    chart = report_charts.heat_map(report, many, PageMarks())
    assert chart.title.endswith("the smallest ratio first")
    assert chart.note.endswith(" The 20 smallest and the 20 largest of 48 rows; the table has all.")


def test_a_report_without_comparisons_has_its_figures(tmp_path):
    steps = [ImportedStep("a", name, Figures({"qps": qps})) for name, qps in (("load", 10.0), ("read", 900.0))]
    report = imported(tmp_path, "insert_benchmark", steps)
    chart = report_charts.main_chart(report, PageMarks())
    assert len(titles(chart.svg)) == 2
    assert report_charts.main_chart(bare(report, StepPoints("read", (), ())), PageMarks()) is None


# Files


def test_a_chart_is_found_by_name_and_saved_as_svg(report):
    assert report_charts.svg(report, "main").startswith(b'<svg xmlns="http://www.w3.org/2000/svg"')
    assert report_charts.find_chart(report, "readww-latency").title == "readww: latency"
    with pytest.raises(NoForm, match=r"no chart is called nope; there are: qps, "):
        report_charts.find_chart(report, "nope")


def test_a_png_without_a_browser_is_an_error(report, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoForm, match=r"a PNG needs Chromium or Chrome, which this host lacks"):
        report_charts.png(report, "main")


@needs("chromium")
def test_a_browser_makes_a_png(report):
    image = report_charts.png(report, "main")
    assert image.startswith(b"\x89PNG")
    assert int.from_bytes(image[16:20], "big") == 2 * (900 + 24)
