from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from stepgrid.run import server_process
from stepgrid.run.server_process import PREFIX, SocketError, socket_folder, sweep


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Not below the tests' own folder, whose path may be too long."""
    monkeypatch.setattr(server_process, "LONGEST_SOCKET", len(os.fsencode(tmp_path)) + 60)
    monkeypatch.setattr(server_process, "socket_parents", lambda: [tmp_path])
    return tmp_path


def test_a_folder_for_its_owner_alone_that_goes_with_it(place: Path) -> None:
    with socket_folder("a.sock", None) as folder:
        assert folder.parent == place
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "a.sock").touch()
    assert not folder.exists()


def test_one_whose_owner_is_dead_is_swept(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "NEW", -1.0)
    left = place / f"{PREFIX}left"
    left.mkdir()
    (left / "a.sock").touch()
    with socket_folder("a.sock", None) as first:
        assert not left.exists()
        with socket_folder("a.sock", None):
            assert first.exists()


def test_one_of_another_user_or_that_was_just_made_stays(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = place / f"{PREFIX}new"
    made.mkdir()
    sweep(place, {os.geteuid()})
    monkeypatch.setattr(server_process, "NEW", -1.0)
    sweep(place, {os.geteuid() + 1})
    assert made.exists()


def test_what_holds_folders_is_not_ours(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "NEW", -1.0)
    other = place / f"{PREFIX}checkout"
    (other / "work").mkdir(parents=True)
    (other / "work" / "precious").touch()
    sweep(place, {os.geteuid()})
    assert (other / "work" / "precious").exists()


def test_the_next_place_where_the_path_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("a" * 90)
    long.mkdir()
    short = Path(tempfile.gettempdir())
    monkeypatch.setattr(server_process, "socket_parents", lambda: [long, short])
    with socket_folder("a.sock", None) as folder:
        assert folder.parent == short
    assert not [*long.iterdir()]


def test_no_place_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "socket_parents", lambda: [tmp_path / "gone", tmp_path])
    monkeypatch.setattr(server_process, "LONGEST_SOCKET", 10)
    with pytest.raises(SocketError) as caught, socket_folder("a.sock", None):
        pass
    assert str(caught.value) == (
        f"there is no place for the server's socket ({tmp_path}/gone: No such file or directory; "
        f"{tmp_path}: its path is too long); set TMPDIR to a short path"
    )
