"""Claims and tables of the spec on the page."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from tests.summarize import scenario
from tests.summarize.scenario import NEW

CLAIMS = (
    {"claim": "hyper wins", "expect": "qps(cache='hyper') >= 1.2 * qps(cache='lru')",
     "where": {"step": "readww", "threads": "1", "build": NEW}},
    {"claim": "lru <wins>", "expect": "qps(cache='hyper') < qps(cache='lru')",
     "where": {"step": "readww", "threads": "1", "build": NEW}},
)  # fmt: skip
TABLES = ({"title": "by cache", "rows": ["cache"], "where": {"step": "readww", "threads": "1", "build": NEW}},)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    root: Path = tmp_path_factory.mktemp("page")
    scenario.report(scenario.experiment(root, claims=CLAIMS, tables=TABLES))
    return next(root.rglob("index.html")).read_text(encoding="utf-8")


def test_claims_come_behind_the_answer_counted_and_in_the_order_of_the_spec(page: str) -> None:
    places = [
        '<section id="answer">',
        "<p>2 claims: 1 fails, 1 holds.</p>",
        *(f"</strong>: {html.escape(each['claim'])}" for each in CLAIMS),
    ]
    found = [page.index(place) for place in [*places, '<section id="doubts">']]
    assert found == sorted(found)
    assert "<strong>fails</strong>: lru &lt;wins&gt;" in page


def test_the_tables_that_were_asked_for_are_open_and_before_the_steps(page: str) -> None:
    assert page.index('<details class="blocks" open><summary>by cache</summary>') < page.index('<section class="step" ')
    assert '<tr><th>hyper</th><td class="number">15,000</td></tr>' in page
