"""Scales, marks and pictures of charts: round ticks, one mark for each arm, files that stand alone."""

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.charts import drawing

VALUES = st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=20)


@given(VALUES, st.booleans())
def test_a_scale_holds_its_values_and_its_ticks(values: list[float], from_zero: bool) -> None:
    scale = drawing.scale(values, 10.0, 310.0, from_zero)
    places = [scale(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(10 <= place <= 310 for place in places)
    assert all(scale.low <= tick * (1 + 1e-9) and tick <= scale.high * (1 + 1e-9) for tick in scale.ticks)
    assert len(scale.ticks) <= 12


def test_an_arm_has_one_mark_on_a_page_and_sixteen_are_told_apart() -> None:
    marks = drawing.PageMarks()
    assert [marks[arm] for arm in ("a", "b", "a", "c")] == [0, 1, 0, 2]
    shapes = {drawing.of_arm("x", mark, drawing.shape((0, 0), mark)) for mark in range(16)}
    assert len(shapes) == 16


def test_a_picture_alone_is_well_formed_with_plain_and_dark_colours() -> None:
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
