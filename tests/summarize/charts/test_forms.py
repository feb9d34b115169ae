"""The forms of charts: what is drawn of plain data, whatever its size."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.charts import drawing, forms
from stepgrid.summarize.charts.forms import Line, MapCell, Mark, Panel, Place, Plane, Ratio, front

SIZES = st.floats(-600, 600).map(math.exp)


def titles(svg: str) -> list[str]:
    return re.findall(r"<title>([^<]+)</title>", svg)


def texts(svg: str) -> list[str]:
    return re.findall(r">([^<>]+)</text>", svg)


def numbers(svg: str) -> list[float]:
    return [float(number) for number in re.findall(r"(?<![#\w])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", svg)]


@given(st.lists(SIZES, min_size=3, max_size=3), st.booleans())
def test_a_ratio_of_any_size_is_drawn_within_the_picture(values: list[float], has_ends: bool) -> None:
    low, ratio, high = sorted(values)
    svg = forms.ratios("title", [Ratio("a", "b", ratio, (low, high) if has_ends else None, True)], ["b"], 0.02)
    assert "nan" not in svg
    assert all(abs(number) < 2000 for number in numbers(svg.partition("<title>")[0]))
    assert "1" in texts(svg), "the base has its tick"


def test_ratios_have_named_sides_and_no_verdict_is_hollow() -> None:
    rows = [Ratio("read", "x", 0.5, (0.45, 0.55), True), Ratio("read", "y", 1.4, None, False)]
    svg = forms.ratios("title", rows, ["x", "y"], 0.02)
    assert {"◀ slower", "faster ▶", "x", "y", "ratio", "read"} <= set(texts(svg))
    assert titles(svg) == ["read x: 0.50×", "read y: 1.40×"]
    assert svg.count('fill="#fff"') == 1


def test_over_time_a_panel_has_lines_stalls_and_a_target() -> None:
    line = [(float(second), 100.0) for second in range(1, 21)]
    svg = forms.over_time("title", [Panel("QPS", [line, line], 110.0, stalls=[5, 12], target=90.0)], 20.0, ("a", "b"))
    assert svg.count(f'stroke="{drawing.STALL}"') == 2
    assert svg.count("stroke-dasharray") == 1
    assert svg.count('fill="none"') == 2
    assert {"QPS", "seconds", "a", "b", "0", "20"} <= set(texts(svg))


def test_stalls_are_no_more_than_a_screen_can_show() -> None:
    line = [(float(second), 1.0) for second in range(4000)]
    svg = forms.over_time("title", [Panel("", [line], 1.0, stalls=[float(second) for second in range(4000)])], 4000.0)
    assert svg.count(f'stroke="{drawing.STALL}"') <= forms.TIME_WIDTH + 1


def test_of_long_runs_means_of_several_seconds_are_drawn() -> None:
    line = [(float(second), float(second % 2)) for second in range(1, 100_001)]
    svg = forms.over_time("title", [Panel("QPS", [line], 1.0)], 100_000.0)
    assert len(svg) < 10_000


def test_two_points_of_a_line_are_marks_where_there_is_one() -> None:
    assert 'fill="none"' not in forms.over_time("title", [Panel("QPS", [[(1.0, 5.0)]], 5.0)], 1.0)


def test_a_line_for_each_arm_with_its_band() -> None:
    lines = [Line(name, [Place(1, 10, 9, 11), Place(16, 100, 90, 110)]) for name in ("lru", "hyper")]
    svg = forms.lines_by_value("title", "threads", [(1, "1"), (16, "16")], lines, "QPS")
    assert titles(svg) == ["lru 1: 10", "lru 16: 100", "hyper 1: 10", "hyper 16: 100"]
    assert svg.count('fill-opacity=".15"') == 2


MARKS = st.lists(st.builds(Mark, st.floats(0.1, 100), st.floats(1, 1e6), st.just("")), min_size=1, max_size=30)


@given(MARKS, st.booleans())
def test_no_mark_of_the_front_is_beaten_and_each_other_one_is(marks: list[Mark], is_more_better: bool) -> None:
    best, sign = front(marks, is_more_better), -1 if is_more_better else 1
    assert best == sorted(best)
    for mark in marks:
        is_beaten = any(
            sign * other.x <= sign * mark.x and other.y >= mark.y and other[:2] != mark[:2] for other in marks
        )
        assert (mark[:2] in [other[:2] for other in best]) == (not is_beaten)


def test_marks_of_sizes_have_round_ticks() -> None:
    marks = [Mark(2.0**power, power, f"m{power}") for power in range(20, 31)]
    svg = forms.marks("title", Plane("memory", "QPS", sizes=True), marks, [front(marks)])
    assert {"1 MiB", "16 MiB", "1 GiB"} & set(texts(svg))
    assert titles(svg) == [mark.name for mark in marks]


def test_a_missing_percentile_has_no_mark() -> None:
    rows = [("lru", [10.0, 100.0, None]), ("hyper", [8.0, 70.0, 90.0])]
    svg = forms.percentiles("title", rows, ["p50", "p99", "p99.9"], "µs")
    assert titles(svg) == [
        "lru p50: 10 µs",
        "lru p99: 100 µs",
        "hyper p50: 8 µs",
        "hyper p99: 70 µs",
        "hyper p99.9: 90 µs",
    ]


def test_a_map_shows_ratios_and_differences_in_bold() -> None:
    svg = forms.heat_map(
        "title", ["a", "b"], [("load", [MapCell(0.5, True), None]), ("read", [None, MapCell(1.02, False)])]
    )
    assert texts(svg) == ["a", "b", "load", "0.50", "read", "1.02"]
    assert svg.count('font-weight="bold"') == 1


@pytest.mark.parametrize("count", [1, 200])
def test_candidates_have_their_figures_and_probabilities(count: int) -> None:
    names = [f"v{number}" for number in range(count)]
    svg = forms.candidates("title", names, [[1.0, 2.0]] * count, [1 / count] * count, "qps")
    assert svg.count("<rect") == count
    assert len(titles(svg)) == 2 * count
    assert sum(text.startswith("v") for text in texts(svg)) <= 45


def test_text_of_others_is_only_text() -> None:
    assert "&lt;a &amp; b&gt;" in drawing.text((0, 0), "<a & b>")
    assert 'aria-label="&quot;x"' in drawing.svg('"x', 1, 1)
    assert "&lt;i&gt;" in drawing.mark((0, 0), 0, "<i>")
