from __future__ import annotations

import re
from xml.etree import ElementTree

from stepgrid.collectors import flame

SVG = "{http://www.w3.org/2000/svg}"


def _boxes(text: str) -> dict[str, tuple[float, float, float]]:
    """What a box says -> its left edge, upper edge and width."""
    found = {}
    for group in ElementTree.fromstring(text).findall(f"{SVG}g"):
        title, box = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        assert box is not None
        found[str(title.text)] = (float(box.attrib["x"]), float(box.attrib["y"]), float(box.attrib["width"]))
    return found


def test_a_box_is_as_wide_as_its_share_and_stands_on_its_caller() -> None:
    boxes = _boxes(flame.graph({("main", "get<int>"): 3, ("main", "put"): 1}, "fg"))
    below, left, right = (
        boxes["main: 4 samples, 100.0%"],
        boxes["get<int>: 3 samples, 75.0%"],
        boxes["put: 1 samples, 25.0%"],
    )
    assert (left[2], right[2]) == (below[2] * 0.75, below[2] * 0.25)
    assert (left[0], right[0]) == (below[0], below[0] + left[2])
    assert left[1] == right[1] < below[1] < boxes["all: 4 samples, 100.0%"][1]


def test_what_is_too_narrow_is_left_out_and_deep_recursion_is_drawn() -> None:
    boxes = _boxes(flame.graph({("main", "often"): 10_000, ("main", "seldom"): 1}, "fg"))
    assert not any(name.startswith("seldom") for name in boxes)
    assert flame.graph({("f",) * 3000: 1}, "fg").count("<title>f: 1 samples, 100.0%</title>") == 3000


def test_it_loads_nothing_and_runs_nothing() -> None:
    text = flame.graph({("a",): 1}, "fg")
    assert not re.search(r"<script|href|onload|url\(|@import", text)
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert text == flame.graph({("a",): 1}, "fg")


def test_no_samples() -> None:
    assert _boxes(flame.graph({}, "fg")) == {}
