"""Charts of the points of a step: along an axis of numbers, what they cost, their response times."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.plan import Axis
from stepgrid.summarize.charts import heat_map, percentile_chart, scaling_chart, trade_off_chart
from stepgrid.summarize.charts.trade_off_chart import Mark, front
from stepgrid.summarize.comparisons.comparison import BASE, RATIO, Entry
from stepgrid.summarize.comparisons.overview import Overview, Row
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.report import Section
from tests.summarize import made


def section(axes: Sequence[Axis], points: Sequence[tuple[Mapping[str, str], Mapping[str, float]]]) -> Section:
    """Two loads of each, 10 % apart in QPS."""
    return Section("read", tuple(axes), tuple(_point(number, *point) for number, point in enumerate(points)), ())


def _point(number: int, labels: Mapping[str, str], figures: Mapping[str, float]) -> Point:
    runs = (made.run(f"c{number}", load, figures["qps"] * (1 + load / 10)) for load in (0, 1))
    return Point("read", labels, tuple(replace(run, metrics={**figures, **run.metrics}) for run in runs))


THREADS = Axis("threads", ("1", "2", "16"))
CACHES = Axis("cache", ("lru", "hyper"))


def by_threads() -> list[tuple[dict[str, str], dict[str, float]]]:
    return [
        ({"cache": cache, "threads": threads}, {"qps": 100.0 * int(threads) * (1 + at)})
        for at, cache in enumerate(CACHES.labels)
        for threads in THREADS.labels
    ]


def test_a_line_for_each_arm_along_an_axis_of_numbers() -> None:
    (found,) = scaling_chart.pictures(section([CACHES, THREADS], by_threads()))
    assert found.title == "read: QPS by threads"
    assert re.findall(r"<title>([^<]+)</title>", found.svg)[:4] == [
        "cache=lru 1: 105", "cache=lru 2: 210", "cache=lru 16: 1.7k", "cache=hyper 1: 210",
    ]  # fmt: skip
    assert found.svg.count('fill-opacity=".15"') == 2, "a band of each"


@pytest.mark.parametrize(
    ("labels", "name"),
    [(("1", "2"), None), (("a", "2", "3"), None), (("8KiB", "16KiB", "1MiB"), "size"), (("10m", "1h", "2h"), "size")],
)
def test_which_axis_is_one_of_numbers(labels: tuple[str, ...], name: str | None) -> None:
    found = scaling_chart.numeric(section([CACHES, Axis("size", labels)], []))
    assert (found.name if found else None) == name


def test_releases_are_no_numbers() -> None:
    assert scaling_chart.numeric(section([Axis("build", ("9.8", "9.9", "9.10"))], [])) is None


def test_many_arms_have_a_chart_for_each_label_of_the_first_axis() -> None:
    builds = Axis("build", ("old", "new"))
    caches = Axis("cache", tuple("abcdef"))
    points = [
        ({"build": build, "cache": cache, "threads": threads}, {"qps": 10.0})
        for build in builds.labels
        for cache in caches.labels
        for threads in THREADS.labels
    ]
    found = scaling_chart.pictures(section([builds, caches, THREADS], points))
    assert [picture.title for picture in found] == ["read: QPS by threads, old", "read: QPS by threads, new"]


MARKS = st.lists(st.builds(Mark, st.floats(0.1, 100), st.floats(1, 1e6), st.just("")), min_size=1, max_size=30)


@given(MARKS)
def test_no_point_of_the_front_is_beaten_and_each_other_one_is(marks: list[Mark]) -> None:
    best = front(marks)
    for each in marks:
        beaten = any(one.cost <= each.cost and one.qps >= each.qps and one[:2] != each[:2] for one in marks)
        assert (each[:2] in [one[:2] for one in best]) == (not beaten)


def test_qps_and_what_it_costs() -> None:
    points = [
        ({"cache": f"{at}"}, {"qps": qps, "write_amplification": cost})
        for at, (qps, cost) in enumerate([(100.0, 1.0), (300.0, 4.0), (200.0, 5.0), (250.0, 2.0)])
    ]
    axes = [Axis("cache", ("0", "1", "2", "3"))]
    (found,) = trade_off_chart.pictures(section(axes, points))
    assert found.title == "read: QPS and write amplification; on the line: cache=0; cache=3; cache=1"
    assert "cache=1: 315 QPS, 4" in found.svg
    alike = [(labels, {**figures, "write_amplification": 1.0}) for labels, figures in points]
    assert trade_off_chart.pictures(section(axes, alike)) == []


def test_memory_is_that_of_the_server_where_there_is_one() -> None:
    rows = [
        ({"cache": f"{at}"}, {"qps": 100.0 * at, "process_max_rss_bytes": 30e6 * at, "server_rss_bytes": 4e8 * at})
        for at in range(1, 5)
    ]
    axes = [Axis("cache", ("1", "2", "3", "4"))]
    (found,) = trade_off_chart.pictures(section(axes, rows))
    assert found.title.startswith("read: QPS and memory of the server; on the line: cache=1; ")
    for _, figures in rows:
        del figures["server_rss_bytes"]
    (found,) = trade_off_chart.pictures(section(axes, rows))
    assert found.title.startswith("read: QPS and memory; on the line: ")


def test_response_times() -> None:
    times = {"p50_us": 10.0, "p99_us": 100.0, "p99_9_us": 0.0}
    points = [({"cache": cache}, {"qps": 10.0, **times}) for cache in CACHES.labels]
    found = percentile_chart.picture(section([CACHES], points))
    assert found is not None
    assert "cache=lru p99: 100 µs" in found.svg
    assert "cache=lru p99.9" not in found.svg
    assert percentile_chart.picture(section([CACHES], points[:1])) is None


def test_a_map_of_many_arms() -> None:
    arms = tuple((f"r-{at}",) for at in range(8))
    entries = (
        Entry(BASE),
        *(Entry(RATIO, ratio=0.5 + at / 5, verdict="slower" if not at else "same") for at in range(7)),
    )
    rows = tuple(Row(step, (), entries) for step in ("load", "read"))
    found = heat_map.picture(Overview("r-0", ("build",), (), arms, rows, ()))
    assert found is not None
    assert found.title == "QPS relative to r-0, all arms"
    assert found.svg.count(">0.50</text>") == 2
    assert found.svg.count('font-weight="bold"') == 2
    assert heat_map.picture(Overview("r-0", ("build",), (), arms[:3], rows, ())) is None
