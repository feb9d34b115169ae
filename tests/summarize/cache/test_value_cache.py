"""Small things are worked out once: the next report takes them from a file that may go at any time."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.summarize.cache import report_cache
from stepgrid.summarize.cache.report_cache import book, keeping


def told(folder: Path, *keys: str, whole: bool = True) -> list[str]:
    """What had to be worked out."""
    worked: list[str] = []

    def work(key: str) -> list[float | None]:
        worked.append(key)
        return [0.1 + 0.2, None]

    with keeping(folder, whole):
        for key in keys:
            assert book("numbers").of(key, lambda key=key: work(key)) == [0.1 + 0.2, None]
    return worked


def test_a_value_is_worked_out_once(tmp_path: Path) -> None:
    assert told(tmp_path / "kept", "a", "b", "a") == ["a", "b"]
    assert told(tmp_path / "kept", "a", "b", "c") == ["c"]
    assert told(tmp_path / "kept", "a", "b", "c") == []


def test_what_no_report_needs_any_more_goes(tmp_path: Path) -> None:
    told(tmp_path, "a", "b")
    told(tmp_path, "b")
    assert told(tmp_path, "a", "b") == ["a"]


def test_who_only_reads_a_report_writes_nothing(tmp_path: Path) -> None:
    told(tmp_path, "a", "b")
    assert told(tmp_path, "b", "c", whole=False) == ["c"]
    assert told(tmp_path, "a", "b") == []


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"0\n{}"])
def test_a_damaged_one_is_made_again(tmp_path: Path, content: bytes) -> None:
    told(tmp_path, "a")
    (path,) = tmp_path.iterdir()
    path.write_bytes(content)
    assert told(tmp_path, "a") == ["a"]
    assert told(tmp_path, "a") == []


def test_other_code_works_it_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for revision in ("1", "2"):
        monkeypatch.setattr(report_cache, "revision", lambda revision=revision: revision)
        assert told(tmp_path, "a") == ["a"]


def test_where_nothing_is_kept_it_is_worked_out_each_time(tmp_path: Path) -> None:
    assert [book("numbers").of("a", lambda: 1.0), book("numbers").of("a", lambda: 2.0)] == [1.0, 2.0]
    (tmp_path / "kept").touch()
    assert told(tmp_path / "kept", "a") == ["a"]
