"""The page on statistics: the method that the report's page shows, and code that recomputes intervals."""

import pytest

from stepgrid.summarize.statistics.verdicts import METHOD
from tests.docs.pages import DOCS, blocks
from tests.summarize import scenario

PAGE = DOCS / "concepts/statistics.md"


@pytest.fixture
def recompute(capsys):
    """Run the page's code, which prints the interval that its comment names."""
    (code,) = blocks(PAGE, "python")
    names = {}
    exec(code.text, names)
    printed = capsys.readouterr().out.strip()
    assert printed in code.text, "the comment of the code has what it prints"
    assert printed == "1.146 [1.108, 1.185]"
    return names["recompute"]


def test_the_code_of_the_page_recomputes_each_interval_of_a_report(tmp_path, recompute):
    report = scenario.report(scenario.experiment(tmp_path))
    cases = [case for comparison in report.comparisons.all for case in comparison.cases()]
    intervals = [case.entry.interval for case in cases if case.entry.interval and case.entry.interval.ratios]
    assert len(intervals) > 3
    for interval in intervals:
        ends = recompute(interval.ratios, interval.deviation, interval.freedom, interval.critical)
        assert ends == pytest.approx((interval.ratio, interval.low, interval.high))


def test_the_page_begins_with_the_method():
    words = " ".join(PAGE.read_text(encoding="utf-8").partition("## Method")[2].split())
    assert words.startswith(" ".join(f"- {sentence}" for sentence in METHOD))
