"""Charts are drawn once: the next page takes them from a folder that may go at any time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.summarize.cache import report_cache
from stepgrid.summarize.cache.report_cache import Drawing, drawn, keeping

BARS, LINES = {"mark": "bar"}, {"mark": "line"}


class Drawer:
    """Counts."""

    def __init__(self) -> None:
        self.drew: list[str] = []

    def __call__(self, chart: Mapping[str, Any]) -> Drawing:
        self.drew.append(chart["mark"])
        return lambda: f"<svg>\n{chart['mark']}</svg>"


def test_a_chart_is_drawn_once(tmp_path: Path) -> None:
    draw = Drawer()
    for _ in range(2):
        with keeping(tmp_path / "charts"):
            assert drawn(BARS, draw)() == "<svg>\nbar</svg>"
    assert draw.drew == ["bar"]
    drawn(BARS, draw)()  # of no page: nothing is kept
    assert draw.drew == ["bar", "bar"]


def test_what_a_page_does_not_show_any_more_goes(tmp_path: Path) -> None:
    for charts in ([BARS, LINES], [LINES]):
        with keeping(tmp_path):
            for chart in charts:
                drawn(chart, Drawer())()
    assert len([*tmp_path.iterdir()]) == 1


def test_what_a_power_cut_left_of_one_is_drawn_again(tmp_path: Path) -> None:
    for content in ("", "<svg/>", "\udcff"):
        with keeping(tmp_path):
            drawn(BARS, Drawer())()
        (path,) = tmp_path.iterdir()
        path.write_bytes(content.encode(errors="surrogateescape"))
        with keeping(tmp_path):
            assert drawn(BARS, Drawer())() == "<svg>\nbar</svg>"


def test_another_version_of_what_draws_draws_it_again(tmp_path: Path, monkeypatch: Any) -> None:
    draw = Drawer()
    for version in ("1", "2"):
        monkeypatch.setattr(report_cache, "_drawer", lambda version=version: version)
        with keeping(tmp_path):
            drawn(BARS, draw)()
    assert draw.drew == ["bar", "bar"]


def test_a_store_that_cannot_be_written_keeps_none(tmp_path: Path) -> None:
    (tmp_path / "charts").touch()
    with keeping(tmp_path / "charts"):
        assert drawn(BARS, Drawer())() == "<svg>\nbar</svg>"
