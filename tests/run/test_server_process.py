"""Log of a server, what its clients were told, and folders of sockets."""

import json
import os

import pytest

from stepgrid.run import server_process
from tests.cases import rows


@pytest.mark.parametrize(("line", "said"), rows(__file__, "the first of its errors"))
def test_the_first_of_its_errors(line, said, tmp_path):
    log = tmp_path / "stderr"
    log.write_text(f"starting\n{line}\n2026-11-21 15:13:41 0 [ERROR] Aborting\n")
    assert server_process.first_complaint(log) == said


def test_a_process_that_crashed(tmp_path):
    log = tmp_path / "stderr"
    log.write_text(
        "2026-11-21 15:00:00.000 UTC [7] LOG:  server process (PID 77) was terminated by signal 11: Segmentation "
        "fault\n"
        "2026-11-21 15:00:00.000 UTC [7] LOG:  terminating any other active server processes\n"
    )
    assert server_process.read_crash(log) == server_process.ServerCrash("server", 11)
    log.write_text("2026-11-21 15:00:00.000 UTC [7] LOG:  checkpoint complete\n")
    assert server_process.read_crash(log) is None


@pytest.fixture
def server(tmp_path):
    return server_process.Server(None, tmp_path / "server", None, tmp_path)


@pytest.mark.parametrize("said", rows(__file__, "no_connection_is_free"))
def test_no_connection_is_free(said, server, tmp_path):
    (tmp_path / "stderr").write_text(f"{said}\n")
    server.folder.mkdir()
    (server.folder / "effective.json").write_text(json.dumps({"values": {"max_connections": "8"}, "differs": {}}))
    assert server_process.explain_refusal(server, tmp_path) == (
        "the server had no free connection (it has 8): raise `max_connections`, or lower the number of the "
        "step's clients"
    )


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Not below the tests' own folder, whose path may be too long."""
    monkeypatch.setattr(server_process, "LONGEST_SOCKET", len(os.fsencode(tmp_path)) + 60)
    monkeypatch.setattr(server_process, "socket_parents", lambda: [tmp_path])
    return tmp_path


def test_one_whose_owner_is_dead_is_swept(place, monkeypatch):
    monkeypatch.setattr(server_process, "NEW", -1.0)
    left = place / f"{server_process.PREFIX}left"
    left.mkdir()
    (left / "a.sock").touch()
    with server_process.socket_folder("a.sock", None) as first:
        assert not left.exists()
        with server_process.socket_folder("a.sock", None):
            assert first.exists()


def test_one_of_another_user_or_that_was_just_made_stays(place, monkeypatch):
    made = place / f"{server_process.PREFIX}new"
    made.mkdir()
    server_process.sweep(place, {os.geteuid()})
    monkeypatch.setattr(server_process, "NEW", -1.0)
    server_process.sweep(place, {os.geteuid() + 1})
    assert made.exists()


def test_what_holds_folders_is_not_ours(place, monkeypatch):
    monkeypatch.setattr(server_process, "NEW", -1.0)
    other = place / f"{server_process.PREFIX}checkout"
    (other / "work").mkdir(parents=True)
    (other / "work" / "precious").touch()
    server_process.sweep(place, {os.geteuid()})
    assert (other / "work" / "precious").exists()


def test_no_place_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(server_process, "socket_parents", lambda: [tmp_path / "gone", tmp_path])
    monkeypatch.setattr(server_process, "LONGEST_SOCKET", 10)
    with pytest.raises(server_process.SocketError) as caught, server_process.socket_folder("a.sock", None):
        pass
    assert str(caught.value) == (
        f"there is no place for the server's socket ({tmp_path}/gone: No such file or directory; "
        f"{tmp_path}: its path is too long); set TMPDIR to a short path"
    )
