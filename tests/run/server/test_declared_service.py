"""A server that a build declares, around the steps of a stage: a real program, no engine that knows it."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepgrid.host.failure import StageError
from stepgrid.model.plan import PlannedBuild
from stepgrid.run.attempt import Attempt, Job
from stepgrid.run.options import AcceptedOptions
from stepgrid.run.server import serving
from stepgrid.run.server_process import ReachedServer

LISTEN = """
import os, signal, socket, sys, time
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print(*sys.argv[2:], os.environ.get("LOG", ""), file=sys.stderr, flush=True)
"""
WAIT = LISTEN + "time.sleep(60)\n"
DEAF = LISTEN + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)\n"
SOCKET = """
import socket, sys, time
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
time.sleep(60)
"""
PORT = {"port": "{port}", "timeout": 30.0}
SILENT = "import time; print('reading', flush=True); time.sleep(60)"
OWN = PlannedBuild("b-1", "own", "program", "1.0", {"system": "python3"})

Serve = Callable[..., AbstractContextManager[ReachedServer | None]]


@pytest.fixture
def serve(checkout: Any, stage: Any, step: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Serve:
    monkeypatch.chdir(checkout.folder)
    data = tmp_path / "live" / "data"
    data.mkdir(parents=True)

    def served(code: str = WAIT, *words: str, ready: Mapping[str, Any] = PORT, **said: Any) -> Any:
        service = {"argv": [sys.executable, "-c", code, *(words or ("{port}",))], "ready": dict(ready), **said}
        checkout.plan(stage("s-load", replace(step(), setup={"service": service})), builds=(OWN,))
        attempt = Attempt(Job.load(checkout.store, "p", "s-load"))
        return serving(attempt, attempt.job.stage, attempt.folder, data, [AcceptedOptions({"a": 1, "b": True})])

    return served


def _failure(served: AbstractContextManager[ReachedServer | None]) -> StageError:
    with pytest.raises(StageError) as caught, served:
        raise AssertionError("it began")
    return caught.value


def _told(server: ReachedServer) -> str:
    return (server.folder / "stderr").read_text()


def test_its_words_and_how_clients_find_it(serve: Serve, gone: Callable[[int], bool]) -> None:
    words = ("{port}", "{host}", "{data}", "{options}")
    with serve(WAIT, *words, option=["--{name}", "{value}"], env={"LOG": "{folder}/log"}) as server:
        assert server is not None
        found = server.access.placeholders()
        assert sorted(found) == ["host", "port", "socket", "sockets"]
        with closing(socket.create_connection((found["host"], int(found["port"])))):
            pass
        data, pid = server.folder.parents[4] / "live" / "data", server.companion
        assert _told(server) == f"127.0.0.1 {data} --a 1 --b true {server.folder}/log\n"
    assert pid is not None
    assert gone(pid)
    assert server.warnings == [], "a program that leaves SIGTERM to the system ends as it should"


def test_one_that_is_ready_when_its_socket_takes_clients(serve: Serve) -> None:
    with serve(SOCKET, "{socket}", ready={"socket": "{socket}"}) as server:
        assert server is not None
        assert server.access.socket.exists()


def test_one_that_is_ready_when_a_command_says_so(serve: Serve, tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    tries.write_text("")
    command = ["sh", "-c", f"echo x >> {tries}; test $(wc -l < {tries}) -ge 3"]
    with serve(ready={"command": command}) as server:
        assert server is not None
        assert tries.read_text() == "x\n" * 3


def test_one_that_is_never_ready(serve: Serve) -> None:
    failure = _failure(serve(SILENT, ready={"port": "{port}", "timeout": 1.0}))
    assert failure.message == "the server was not ready within 1 s; its client was told: [Errno 111] Connection refused"
    assert failure.tail == "reading"


def test_one_of_which_a_command_never_says_that_it_is_ready(serve: Serve) -> None:
    said = ["sh", "-c", "echo still loading; exit 4"]
    assert _failure(serve(ready={"command": said, "timeout": 0.5})).message == (
        "the server was not ready within 0.5 s; its client was told: `sh` ended with exit status 4: still loading"
    )


def test_one_that_ends_before_it_is_ready(serve: Serve) -> None:
    failure = _failure(serve("raise SystemExit('no such option')"))
    assert failure.message == "the server ended with exit status 1 before it was ready"
    assert failure.tail == "no such option"


def test_a_program_that_is_not_there(serve: Serve) -> None:
    assert _failure(serve(ready={"command": ["{program:cli}"]})).message == (
        "the server cannot be set up: the build has no program `cli`; it has: python, none"
    )


def test_one_that_does_not_end_has_no_whole_database(serve: Serve, gone: Callable[[int], bool]) -> None:
    seen: list[int] = []
    with pytest.raises(StageError) as caught, serve(DEAF, stop={"timeout": 0.5}) as server:
        seen.append(server.companion)  # type: ignore[union-attr,arg-type]
    assert caught.value.message == (
        "the server did not end within 0.5 s, and was killed: its database may be incomplete"
    )
    assert gone(*seen)


def test_the_signal_that_it_wants(serve: Serve) -> None:
    ends = LISTEN + "signal.signal(signal.SIGUSR1, lambda *_: sys.exit(5))\nsignal.pause()\n"
    with serve(ends, stop={"signal": "SIGUSR1", "timeout": 20.0}) as server:
        assert server is not None
    assert server.warnings == ["the server ended with exit status 5 when it was asked to end"]


def test_a_command_that_ends_it(serve: Serve, tmp_path: Path) -> None:
    ends = LISTEN + "connected, _ = listening.accept()\n" * 2
    ask = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))"
    with serve(ends, stop={"command": [sys.executable, "-c", ask, "{port}"], "timeout": 20.0}) as server:
        assert server is not None
    assert server.warnings == []
    assert json.loads((server.folder / "stop-0" / "command.json").read_text())["argv"][-1].isdigit()


def test_a_command_that_does_not_end_it(serve: Serve) -> None:
    served = serve(stop={"command": ["sh", "-c", "echo who; exit 2"]})
    with pytest.raises(StageError) as caught, served:
        pass
    assert caught.value.message == "stopping the server failed: it ended with exit status 2"
    assert caught.value.tail == "who"


def test_a_port_that_somebody_else_listens_on(serve: Serve) -> None:
    """Its clients would ask, and fill, another server."""
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = str(other.getsockname()[1])
        failure = _failure(serve(ready={"port": port}))
    assert failure.message == f"the server cannot be set up: another program listens on port {port}; use `{{port}}`"
