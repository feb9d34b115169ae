"""Flame graphs of one recording, and of an arm against its base."""

import re
from xml.etree import ElementTree

from stepgrid.plugins.collector import Recording
from stepgrid_databases.collectors import flame, perf_record
from stepgrid_databases.collectors.perf_record import COLLECTOR

SVG = "{http://www.w3.org/2000/svg}"


def _boxes(text):
    """What a box says -> its left edge, upper edge and width."""
    found = {}
    for group in ElementTree.fromstring(text).findall(f"{SVG}g"):
        title, box = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        found[str(title.text)] = (float(box.attrib["x"]), float(box.attrib["y"]), float(box.attrib["width"]))
    return found


def test_a_box_is_as_wide_as_its_share_and_stands_on_its_caller():
    boxes = _boxes(flame.draw_graph({("main", "get<int>"): 3, ("main", "put"): 1}, "fg"))
    below, left, right = (
        boxes["main: 4 samples, 100.0%"],
        boxes["get<int>: 3 samples, 75.0%"],
        boxes["put: 1 samples, 25.0%"],
    )
    assert (left[2], right[2]) == (below[2] * 0.75, below[2] * 0.25)
    assert (left[0], right[0]) == (below[0], below[0] + left[2])
    assert left[1] == right[1] < below[1] < boxes["all: 4 samples, 100.0%"][1]


def test_what_is_too_narrow_is_left_out_and_deep_recursion_is_drawn():
    boxes = _boxes(flame.draw_graph({("main", "often"): 10_000, ("main", "seldom"): 1}, "fg"))
    assert not any(name.startswith("seldom") for name in boxes)
    assert flame.draw_graph({("f",) * 3000: 1}, "fg").count("<title>f: 1 samples, 100.0%</title>") == 3000


def test_it_loads_nothing_and_runs_nothing():
    text = flame.draw_graph({("a",): 1}, "fg")
    assert not re.search(r"<script|href|onload|url\(|@import", text)
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert text == flame.draw_graph({("a",): 1}, "fg")


def test_no_samples():
    assert _boxes(flame.draw_graph({}, "fg")) == {}


BASE = {("p", "main", "get"): 4.0, ("p", "main", "lock"): 1.0}
ARM = {("p", "main", "get"): 4.0, ("p", "main", "burn"): 5.0, ("p", "main", "lock"): 0.5}


def boxes(text):
    """Its words -> its colour."""
    return dict(re.findall(r"<title>([^<]*)</title><rect [^>]*fill=\"(hsl[^\"]*)\"", text))


def test_red_is_more_and_blue_is_less():
    found = boxes(flame.draw_difference(ARM, BASE, "t"))
    assert found == {
        "all: 5 to 9.5 µs of CPU per operation (+4.5)": "hsl(0,85%,60%)",
        "main: 5 to 9.5 µs of CPU per operation (+4.5)": "hsl(0,85%,60%)",
        "burn: 0 to 5 µs of CPU per operation (+5)": "hsl(0,85%,60%)",
        "get: 4 to 4 µs of CPU per operation (+0)": "hsl(220,85%,100%)",
        "lock: 1 to 0.5 µs of CPU per operation (-0.5)": "hsl(220,85%,79%)",
    }


def test_what_only_one_of_them_has_has_room_and_nothing_sticks_out():
    text = flame.draw_difference({("p", "new"): 1.0}, {("p", "old"): 9.0}, "t")
    widths = {
        name.split(":")[0]: float(width)
        for name, width in re.findall(r'<title>([^<]*)</title>.*?width="([\d.]+)"', text)
    }
    assert widths["new"] + widths["old"] == widths["all"]


def test_nothing_and_deep_stacks():
    assert boxes(flame.draw_difference({}, {}, "t")) == {}
    deep = {("p", *map(str, range(3000))): 1.0}
    assert len(boxes(flame.draw_difference(deep, deep, "t"))) == 3001


def test_recordings_are_per_operation_and_of_several_loads_their_mean(tmp_path):
    recordings = []
    for load, count in enumerate((2, 4)):
        folder = tmp_path / str(load)
        folder.mkdir()
        (folder / "stacks.txt").write_text(perf_record.write_stacks({("p", "f"): count}))
        recordings.append(Recording(folder, {"frequency": 1000}, 100.0))
    assert "f: 30 to 30 µs of CPU per operation (+0)" in COLLECTOR.compared(recordings, recordings, "t")
    assert COLLECTOR.compared(recordings[:1], [Recording(tmp_path, {}, 1.0)], "t").count("0 to 20 µs") == 3
