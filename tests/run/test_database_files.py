"""Files of the live database that a command wants kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.run import attempt


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "step").mkdir()
    return tmp_path / "data"


def test_a_file_is_copied(data: Path) -> None:
    (data / "LOG").write_text("what the engine says")
    attempt.keep_database_files(data.parent / "step", data, ["LOG"])
    assert (data.parent / "step/LOG").read_text() == "what the engine says"


def test_of_a_large_one_the_beginning_and_the_end(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "MOST_BYTES", 8)
    (data / "LOG").write_text("firstxxxxxxlast")
    attempt.keep_database_files(data.parent / "step", data, ["LOG"])
    assert (data.parent / "step/LOG").read_text() == "firs\n… 7 bytes are left out here …\nlast"


def test_what_is_not_there_or_leads_elsewhere_is_left(data: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (data / "LOG").symlink_to(tmp_path / "secret")
    attempt.keep_database_files(data.parent / "step", data, ["LOG", "missing"])
    assert list((data.parent / "step").iterdir()) == []


def test_a_step_is_not_lost_by_it(data: Path) -> None:
    (data / "LOG").write_text("x")
    attempt.keep_database_files(data.parent / "no such folder", data, ["LOG"])
