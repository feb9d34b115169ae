"""Forms of charts: dots, ratios, percentiles, lines and trade-offs, of data of any size."""

import math
import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from stepgrid_page import chart_forms, drawing
from stepgrid_page.chart_forms import ChartRow, Mark, Panel, Rows, TimeLine, front

SIZES = st.floats(-600, 600).map(math.exp)
WIDTHS = (drawing.WIDE, drawing.NARROW)


def titles(svg):
    return re.findall(r'data-arm="[^"]*"><title>([^<]+)</title>', svg)


def texts(svg):
    return re.findall(r">([^<>]+)</text>", svg)


def places(svg):
    return [float(x) for x in re.findall(r"translate\((-?[\d.]+) ", svg)]


def chart(*members):
    return Rows("QPS of read", "QPS", members, drawing.PageMarks())


@given(st.lists(SIZES, min_size=3, max_size=3), st.booleans(), st.sampled_from(WIDTHS))
def test_a_ratio_of_any_size_is_drawn_within_the_picture(values, has_ends, width):
    low, ratio, high = sorted(values)
    svg = chart_forms.ratios(chart(ChartRow("a", "b", ratio, "1", (low, high) if has_ends else None)), 0.02, width)
    assert "nan" not in svg
    assert all(0 <= place <= width for place in places(svg))
    assert "1×" in texts(svg), "the base has its tick"


def test_ratios_have_named_sides_a_band_and_a_hollow_mark_without_verdict():
    members = [ChartRow("", "x", 0.5, "0.50×", (0.45, 0.55), "slower"), ChartRow("", "y", 1.4, "1.40×", is_hollow=True)]
    svg = chart_forms.ratios(chart(*members), 0.02)
    assert {"◀ slower", "faster ▶", "x", "y"} <= set(texts(svg))
    assert titles(svg) == ["x: 0.50×, slower", "y: 1.40×"]
    assert svg.count('class="hole"') == svg.count('class="band"') == 1


@given(st.integers(1, 200), st.sampled_from(WIDTHS), st.text("abc", min_size=1, max_size=90))
def test_rows_of_any_number_and_name_stay_within_the_picture(count, width, name):
    rows = (ChartRow(name, f"arm {number}", number + 1.0, "9") for number in range(count))
    svg = chart_forms.figures(chart(*rows), width)
    assert all(0 <= place <= width for place in places(svg))
    assert max(len(text) for text in texts(svg)) * drawing.LETTER <= width + drawing.LETTER


# Two scales


MARKS = st.lists(st.builds(Mark, st.floats(0.1, 100), st.floats(1, 1e6), st.just("")), min_size=1, max_size=30)


@given(MARKS, st.booleans())
def test_no_mark_of_the_front_is_beaten_and_each_other_one_is(marks, is_more_better):
    best, sign = front(marks, is_more_better), -1 if is_more_better else 1
    assert best == sorted(best)
    for mark in marks:
        is_beaten = any(
            sign * other.x <= sign * mark.x and other.y >= mark.y and other[:2] != mark[:2] for other in marks
        )
        assert (mark[:2] in [other[:2] for other in best]) == (not is_beaten)


def test_over_time_loads_are_thin_and_their_median_bold_with_stalls_and_a_target():
    loads = [[(float(second), rate) for second in range(1, 21)] for rate in (90.0, 100.0, 120.0)]
    lines = [TimeLine("a", loads), TimeLine("b", loads[:1])]
    panel = Panel("QPS", lines, {"stalls": [(5, 5), (12, 12)], "flush": [(2, 4), (3, 6)]}, [(4, 6)], 95.0)
    svg = chart_forms.over_time("title", [panel], drawing.PageMarks())
    assert svg.count('class="load"') == 3
    assert svg.count('stroke-width="2.2"') == 2
    assert svg.count('class="stall"') == 2
    assert len(re.findall(r'class="one" [^>]*stroke-width="9"', svg)) == 1, "events that overlap are one mark"
    assert svg.count('class="band"') == 1
    assert svg.count("stroke-dasharray") == 1
    assert {"QPS", "seconds", "stalls", "flush", "a", "b", "0", "20"} <= set(texts(svg))


def test_long_runs_are_small_pictures():
    load = [(float(second), float(second % 2)) for second in range(1, 100_001)]
    panel = Panel("QPS", [TimeLine("a", [load])], {"stalls": [(second, second) for second, _ in load]})
    svg = chart_forms.over_time("title", [panel], drawing.PageMarks())
    assert svg.count('class="stall"') <= drawing.NARROW + 1
    assert len(svg) < 50_000


VALUES = st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=20)


@given(VALUES, st.booleans())
def test_a_scale_holds_its_values_and_its_ticks(values, from_zero):
    scale = drawing.scale(values, 10.0, 310.0, from_zero)
    places = [scale(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(10 <= place <= 310 for place in places)
    assert all(scale.low <= tick * (1 + 1e-9) and tick <= scale.high * (1 + 1e-9) for tick in scale.ticks)
    assert len(scale.ticks) <= 12


def test_an_arm_has_one_mark_on_a_page_and_sixteen_are_told_apart():
    marks = drawing.PageMarks()
    assert [marks[arm] for arm in ("a", "b", "a", "c")] == [0, 1, 0, 2]
    shapes = {drawing.of_arm("x", mark, drawing.shape((0, 0), mark)) for mark in range(16)}
    assert len(shapes) == 16


def test_a_picture_alone_is_well_formed_with_plain_and_dark_colours():
    inner = drawing.of_arm("b", 1, drawing.shape((5, 5), 1))
    picture = drawing.stand_alone(drawing.svg("QPS of <x>", 100, 50, inner))
    root = ET.fromstring(picture)
    assert root.get("viewBox") == "-12 -28 124 90"
    style = root.findtext("{http://www.w3.org/2000/svg}style") or ""
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    assert ".m1 { color: #8446c0; }" in light
    assert ".m1 { color: #c3a0f5; }" in dark
    assert "var(" not in style
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["QPS of <x>"]
