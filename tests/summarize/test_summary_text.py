"""The text of a report, its brief and its Markdown."""

import re
from pathlib import Path

import pytest

from stepgrid import pipeline
from stepgrid.host.terminal_output import Paint, plain
from stepgrid.store.store import Store, SummaryFiles
from stepgrid.summarize import absolute_figures, report_formats, summary_text
from stepgrid.summarize.claims import JudgedClaim
from stepgrid.summarize.summary_text import MOST_LINES, brief_lines
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Path()


@pytest.fixture
def experiment(here):
    found = scenario.experiment(here)
    scenario.report(found)
    return found


def complete(root, rates, **settings):
    """One build, threads=1; `rates`: cache -> QPS of each load, or a whole series of it."""
    made = Experiment(
        root, caches=tuple(rates), loads=len(next(iter(rates.values()))), **{"threads": ("1",)} | settings
    )
    made.add_build(BUILD)
    for load in range(made.loads):
        made.add_load(BUILD, load)
        for cache, loads in rates.items():
            if (BUILD, cache) not in made.alike and loads[load] is not None:
                made.add(BUILD, cache, "1", load, {"readww": loads[load], "overwrite": loads[load]})
    scenario.report(made)
    return made


def block(text, title):
    """Return the lines below a title."""
    return text.split(f"{title}\n{'-' * len(title)}\n")[1].split("\n\n")[0].splitlines()


def test_the_whole_text(experiment, golden):
    text = scenario.text(experiment)
    golden(text)
    assert max(map(len, text.splitlines())) <= 100


def test_the_brief(experiment, golden):
    report = scenario.report(experiment)
    page = SummaryFiles.of(experiment.store, report.setup.plan).page
    briefs = [brief_lines(report, page, width, Paint()) for width in (100, 80)]
    golden("\n\n".join("\n".join(lines) for lines in briefs) + "\n")
    for lines, width in zip(briefs, (100, 80), strict=True):
        assert len(lines) <= MOST_LINES
        assert max(map(len, lines)) <= width
    coloured = brief_lines(report, page, 80, Paint(is_coloured=True))
    assert [plain(line) for line in coloured] == briefs[1]
    assert coloured != briefs[1]
    green, red = "\x1b[32m", "\x1b[31m"
    assert green in "".join(coloured)
    at_a_scale = "".join(brief_lines(scenario.altered(report, scale="smoke"), page, 80, Paint(is_coloured=True)))
    assert green not in at_a_scale
    assert red not in at_a_scale


def test_the_end_of_a_run_reads_the_brief(experiment):
    report = scenario.report(experiment)
    page = SummaryFiles.of(experiment.store, report.setup.plan).page
    lines = brief_lines(report, page, 100, Paint())
    with Path("out").open("w") as stream:
        text = SummaryFiles.of(experiment.store, "p-synthetic").brief(stream, "60 stages in 2m41s")
    assert text.splitlines()[1:] == lines[1:]
    assert text.splitlines()[0] == f"{lines[0]}{'60 stages in 2m41s':>{100 - len(lines[0])}}"


def test_a_brief_of_many_rows_and_arms_has_a_row_for_each_step(here):
    caches, threads = ("lru", *(f"cache-of-a-long-name-{number}" for number in range(6))), tuple("1234")
    made = Experiment(here, caches=caches, threads=threads, loads=3, seconds=1)
    made.add_build(BUILD)
    for load in range(3):
        made.add_load(BUILD, load)
        for number, cache in enumerate(caches):
            for thread in threads:
                rate = 1000.0 * (1 + number / 5) * (1 + load / 1000)
                made.add(BUILD, cache, thread, load, {"readww": rate, "overwrite": rate})
    lines = brief_lines(scenario.report(made), None, 80, Paint())
    assert lines[1:5] == [
        "  QPS / cache=lru   cache-of-a-long-name-0   cache-of-a-long-name-1",
        "  readww            ▲1.20×                   ▲1.40×",
        "  overwrite         ▲1.20×                   ▲1.40×",
        "  not shown: 4 arms: stepgrid report specs/cache.yaml --all",
    ]
    assert max(map(len, lines)) <= 80


def test_a_report_may_lead_with_any_metric(here, golden):
    """Response times: the arm with the lower ones is faster."""
    rates = {"lru": [1000.0, 1010.0, 990.0], "hyper": [500.0, 505.0, 495.0]}
    report = scenario.report(complete(here, rates, metric="p99_us"))
    golden("\n".join(brief_lines(report, None, 80, Paint())) + "\n")
    golden(report_formats.report_text(report, "markdown", None))


def test_a_report_that_compares_nothing_has_its_figures(here):
    lines = brief_lines(scenario.report(complete(here, {"lru": [1000.0, 1010.0]})), None, 80, Paint())
    assert lines[1:4] == ["  fillseq: 300k QPS", "  readww: 1.00k QPS", "  overwrite: 1.00k QPS"]


def test_markdown_for_a_post(experiment, golden):
    golden(report_formats.report_text(scenario.report(experiment), "markdown", None))


def test_no_text_of_a_spec_is_markup(experiment):
    claim = JudgedClaim("a|b *is* `faster` <b>", "qps(a='x|y') > 1", "fails", (), "step=<i>")
    report = scenario.altered(scenario.report(experiment), claims=(claim,))
    assert "a\\|b \\*is\\* \\`faster\\` \\<b\\>" in report_formats.report_text(report, "markdown", None)


def test_only_a_page_in_its_folder_links_to_files(experiment):
    report = scenario.report(experiment)
    page = SummaryFiles.of(experiment.store, report.setup.plan).page
    links = re.findall(r'href="([^#"]+)"', page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).is_file()] == []
    assert "summary.txt" in links
    assert 'href="summary.txt"' not in report_formats.report_text(report, "html", None)


# Cells of the table


def table(made):
    """Return the head and readww's line of the comparison, without the step's column."""
    lines = block(scenario.text(made), "QPS relative to cache=lru, 95 % intervals")
    return [line[2 + len("overwrite") + 2 :] for line in lines if line.split()[0] in ("step", "readww")]


PLAIN = {"lru": [1000.0] * 3, "hyper": [900.0] * 3, "plain": [None] * 3}


@pytest.mark.parametrize(
    ("rates", "settings", "row"),
    [
        (PLAIN, {"alike": [(BUILD, "plain")]}, "1.00k          0.900 [0.896, 0.904] slower  same as cache=lru"),
        (
            PLAIN,  # `plain` is `hyper` under another name: judged once, and no figures of its own
            {"alike": [(BUILD, "plain")], "alike_to": "hyper", "threads": ("1", "2")},
            "1        1.00k          0.900 [0.896, 0.904] slower  same as cache=hyper",
        ),
        ({"lru": [None, None], "hyper": [500.0, 501.0]}, {}, "missing        no base; 500 ± 1 % QPS"),
    ],
)
def test_a_row_of_the_comparison(here, rates, settings, row):
    assert table(complete(here, rates, **settings))[1] == row


# Columns of a step's figures, and the words that explain them


@pytest.mark.parametrize(
    ("metrics", "columns", "figures", "explanation"),
    [
        ({"stall_pct": 12.5, "drain_seconds": 5.25}, ["stalled", "drain"], ["12.5", "5.25"], None),
        ({"seek_p99_us": 18987.0, "drain_l0_files": 12.0}, ["seek p99", "L0 debt"], ["19.0k", "12"], "L0 debt: "),
        ({"dead_rows": 1234567.0, "bloat_bytes": 3 * 2.0**20}, ["dead rows", "bloat"], ["1.23M", "3 MiB"], "bloat: "),
        ({"write_amplification": 0.5}, ["w-amp"], ["0.5"], "w-amp: "),
        ({"initial_qps": 1500.0, "steady_qps": 990.0}, ["initial QPS", "steady QPS"], ["1.50k", "990"], None),
    ],
)
def test_figures_of_some_steps_alone(here, metrics, columns, figures, explanation):
    report = scenario.report(complete(here, {"lru": [1000.0], "hyper": [900.0]}))
    assert "lowest-highest" not in summary_text.text(report, here)
    section = report.comparisons.sections[0]
    section.points[0].runs[0].metrics.update(metrics)
    absolute_figures.table.cache_clear()  # it was written before
    text = summary_text.text(report, here)
    title = next(line for line in text.splitlines() if line.startswith(f"{section.step}: absolute"))
    head, row = block(text, title)[:2]
    assert all(f"  {column}" in head for column in columns)
    assert all(figure in row for figure in figures)
    assert explanation is None or explanation in "\n".join(block(text, "method and words"))


def test_the_command(here, capsys):
    made = scenario.experiment(here)
    assert pipeline.summarize("p-other") == 1
    assert pipeline.summarize("p-synthetic") == 1
    assert capsys.readouterr().err == (
        "summarize: there is no plan p-other under outputs/plans; start a run first\n"
        "summarize: the tables of plan p-synthetic are missing; "
        "first: python -m stepgrid.pipeline collect p-synthetic\n"
    )
    scenario.report(made)
    assert pipeline.summarize("p-synthetic") == 0
    assert capsys.readouterr().err == (
        "summarize: 6 of 54 measured steps have no figures; the report says so on top. Run again to measure them.\n"
    )
    assert pipeline.summarize("p-synthetic", is_partial=True) == 0
    assert capsys.readouterr().err == ""
    assert SummaryFiles.of(Store(), "p-synthetic").text.is_file()
    assert SummaryFiles.of(Store(), "p-synthetic").page.is_file()


def test_the_brief_of_a_base_of_two_axes(here, golden):
    """Caches matter with one thread, threads with each cache: a table for the first axis, a line for the other."""
    experiment = Experiment(here, base={"cache": "lru", "threads": "1"}, seconds=1)
    experiment.add_build(BUILD)
    for load, level in enumerate((1.0, 1.001, 0.999)):
        experiment.add_load(BUILD, load)
        for cache, threads, rate in (("lru", "1", 1), ("hyper", "1", 1.5), ("lru", "2", 2), ("hyper", "2", 2)):
            experiment.add(BUILD, cache, threads, load, {"readww": 1000.0 * rate * level, "overwrite": 1000.0 * level})
    report = scenario.report(experiment)
    golden("\n".join(brief_lines(report, None, 100, Paint())) + "\n")
