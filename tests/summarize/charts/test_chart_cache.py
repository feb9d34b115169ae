"""Charts are drawn once: the next page takes them from a file that may go at any time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stepgrid.summarize.charts import chart_cache
from stepgrid.summarize.charts.chart_cache import ChartCache

BARS, LINES = {"mark": "bar"}, {"mark": "line"}


def drawn(path: Path, *charts: Mapping[str, Any]) -> list[str]:
    """What a page of these charts had to draw."""
    drew: list[str] = []

    def draw(chart: Mapping[str, Any]) -> str:
        drew.append(chart["mark"])
        return f"<svg>\n{chart['mark']}</svg>"

    cache = ChartCache(path, draw)
    for chart in charts:
        assert cache.drawn(chart) == f"<svg>\n{chart['mark']}</svg>"
    cache.save()
    return drew


def test_a_chart_is_drawn_once(tmp_path: Path) -> None:
    assert drawn(tmp_path / "charts.json", BARS) == ["bar"]
    assert drawn(tmp_path / "charts.json", BARS, LINES) == ["line"]
    assert drawn(tmp_path / "charts.json", BARS, LINES) == []


def test_what_a_page_does_not_show_any_more_goes(tmp_path: Path) -> None:
    drawn(tmp_path / "charts.json", BARS, LINES)
    drawn(tmp_path / "charts.json", LINES)
    assert drawn(tmp_path / "charts.json", BARS, LINES) == ["bar"]


@pytest.mark.parametrize("content", ["", "<svg/>", "\udcff", "[]", "{", "[" * 100_000, '{"a": 1.5}'])
def test_a_damaged_file_is_made_again(content: str, tmp_path: Path) -> None:
    path = tmp_path / "charts.json"
    path.write_bytes(content.encode(errors="surrogateescape"))
    assert drawn(path, BARS) == ["bar"]
    assert drawn(path, BARS) == []


def test_another_version_of_what_draws_draws_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("1", "2"):
        monkeypatch.setattr(chart_cache, "_drawer", lambda version=version: version)
        assert drawn(tmp_path / "charts.json", BARS) == ["bar"]


def test_a_store_that_cannot_be_written_keeps_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for _ in range(2):
        assert drawn(tmp_path / "file" / "charts.json", BARS) == ["bar"]
