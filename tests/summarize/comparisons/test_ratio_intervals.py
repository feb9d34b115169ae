"""A ratio has one interval, wherever it stands."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from stepgrid.model.table import Table
from stepgrid.summarize.comparisons.comparison import Row, ratio_intervals
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import Report
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

BUILD, CACHES = "rocksdb-7.8.3", ("lru", "c1", "c2", "c3", "c4")
# per cent, by load
NOISE = (
    (0, 3, -2, 1, 2),
    (1, -1, 0, 2, -2),
    (5, 0, -4, -3, 1),
    (-2, 2, 1, 0, 3),
    (0, -3, 3, 4, -3),
)  # per cent, by load
AGAINST = {"base": {"cache": "lru"}, "where": {"step": "readww"}, "rows": ["step"]}
TABLES = (
    {**AGAINST, "title": "all", "columns": ["cache"]},
    {**AGAINST, "title": "two", "columns": ["cache"], "where": {"step": "readww", "cache": ["lru", "c2"]}},
)
CLAIM = "qps(cache='c2') / qps(cache='lru') > 1"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    claims = [{"claim": "c", "expect": CLAIM, "where": {"step": "readww"}}]
    root: Path = tmp_path_factory.mktemp("one")
    found = Experiment(root, caches=CACHES, threads=("1",), loads=5, tables=TABLES, claims=claims, seconds=1)
    found.add_build(BUILD)
    for load in range(5):
        found.add_load(BUILD, load)
        for cache, noise in zip(CACHES, NOISE, strict=True):
            rate = 1000.0 * (1 + noise[load] / 100)
            found.add(BUILD, cache, "1", load, {"readww": rate, "overwrite": rate})
    return scenario.report(found)


def cell(report: Report, title: str) -> str:
    (table,) = (each for each in report.tables.prepared if isinstance(each, Table) and each.title == title)
    at = [column.name for column in table.columns].index("c2")
    return table.rows[0][at].text


def row(report: Report) -> Row:
    return next(row for row in report.comparisons.all[0].rows if row.step == "readww")


def test_comparisons_tables_and_claims_agree(report: Report) -> None:
    entry = row(report).entries[CACHES.index("c2")]
    assert entry.interval is not None
    low, ratio, high = entry.interval.low, entry.interval.ratio, entry.interval.high
    reach = math.ceil(100 * (high - ratio)) / 100
    assert {cell(report, title) for title in ("all", "two")} == {f"{ratio:.2f} ±{reach:.2f}"}
    assert [case.words for case in report.comparisons.claims[0].cases] == [
        f"{ratio:.2f}× [{low:.2f}, {high:.2f}] (claimed > 1×); at the bound: more loads would hardly decide it"
    ]


def test_the_other_way_round_it_is_turned_round(report: Report) -> None:
    known, (base, arm) = ratio_intervals(report.comparisons.all), (row(report).entries[at].point for at in (0, 2))
    assert isinstance(base, Point)
    assert isinstance(arm, Point)
    there, back = known.interval("qps", arm, base), known.interval("qps", base, arm)
    assert there == row(report).entries[2].interval
    assert there is not None
    assert back is not None
    assert (back.low * there.high, back.ratio * there.ratio) == pytest.approx((1, 1))
