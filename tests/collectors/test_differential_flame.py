"""Two sets of stacks as one picture: where the arm takes more, where less."""

from __future__ import annotations

import re
from pathlib import Path

from stepgrid.collectors import differential_flame, stacks
from stepgrid.collectors.perf_record import COLLECTOR
from stepgrid.plugins.collector import Recording

BASE = {("p", "main", "get"): 4.0, ("p", "main", "lock"): 1.0}
ARM = {("p", "main", "get"): 4.0, ("p", "main", "burn"): 5.0, ("p", "main", "lock"): 0.5}


def boxes(text: str) -> dict[str, str]:
    """Its words -> its colour."""
    return dict(re.findall(r"<title>([^<]*)</title><rect [^>]*fill=\"(hsl[^\"]*)\"", text))


def test_red_is_more_and_blue_is_less() -> None:
    found = boxes(differential_flame.graph(ARM, BASE, "t"))
    assert found == {
        "all: 5 to 9.5 µs of CPU per operation (+4.5)": "hsl(0,85%,60%)",
        "main: 5 to 9.5 µs of CPU per operation (+4.5)": "hsl(0,85%,60%)",
        "burn: 0 to 5 µs of CPU per operation (+5)": "hsl(0,85%,60%)",
        "get: 4 to 4 µs of CPU per operation (+0)": "hsl(220,85%,100%)",
        "lock: 1 to 0.5 µs of CPU per operation (-0.5)": "hsl(220,85%,79%)",
    }


def test_what_only_one_of_them_has_has_room_and_nothing_sticks_out() -> None:
    text = differential_flame.graph({("p", "new"): 1.0}, {("p", "old"): 9.0}, "t")
    widths = {
        name.split(":")[0]: float(width)
        for name, width in re.findall(r'<title>([^<]*)</title>.*?width="([\d.]+)"', text)
    }
    assert widths["new"] + widths["old"] == widths["all"]


def test_nothing_and_deep_stacks() -> None:
    assert boxes(differential_flame.graph({}, {}, "t")) == {}
    deep = {("p", *map(str, range(3000))): 1.0}
    assert len(boxes(differential_flame.graph(deep, deep, "t"))) == 3001


def test_recordings_are_per_operation_and_of_several_loads_their_mean(tmp_path: Path) -> None:
    recordings = []
    for load, count in enumerate((2, 4)):
        folder = tmp_path / str(load)
        folder.mkdir()
        (folder / "stacks.txt").write_text(stacks.text({("p", "f"): count}))
        recordings.append(Recording(folder, {"frequency": 1000}, 100.0))
    assert "f: 30 to 30 µs of CPU per operation (+0)" in COLLECTOR.compared(recordings, recordings, "t")
    assert COLLECTOR.compared(recordings[:1], [Recording(tmp_path, {}, 1.0)], "t").count("0 to 20 µs") == 3
