from __future__ import annotations

import os
import socket
from contextlib import closing
from pathlib import Path

from stepgrid.plugins.server import Access
from stepgrid.run import external_server


def _access(place: Path, host: str = "", port: int = 1) -> Access:
    return Access("mysql", place, place / "s", port, "u", "", "d", "innodb", host, True)


def test_who_listens_at_a_socket(tmp_path: Path) -> None:
    assert external_server.find_process(_access(tmp_path), None) is None
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        assert external_server.find_process(_access(tmp_path), 1) == os.getpid()


def test_who_listens_at_a_port(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        access = _access(tmp_path, "127.0.0.1", listening.getsockname()[1])
        assert external_server.find_process(access, os.getpid()) == os.getpid()
        assert external_server.find_process(access, None) is None
        told, tell = os.pipe()
        child = os.fork()
        if not child:
            listening.close()
            os.write(tell, b"1")
            os.read(os.pipe()[0], 1)
        try:
            os.read(told, 1)  # a busy host lets it close its end later
            assert external_server.find_process(access, child) == os.getpid(), "a backend's parent listens"
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)
            os.close(told)
            os.close(tell)
    assert external_server.find_process(access, os.getpid()) is None


def test_what_is_here() -> None:
    assert external_server.is_here("127.0.0.1", 5)
    assert external_server.is_here("127.9.8.7", 5)
    assert not external_server.is_here("192.0.2.1", 5)
