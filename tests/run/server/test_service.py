from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from stepgrid.host.failure import StageError
from stepgrid.host.processes.supervision import User
from stepgrid.model.plan import Command
from stepgrid.plugins.registry import ENGINES
from stepgrid.plugins.server import Access, Connection, Effective, IdleReading, ServerHome, StatisticsReaders
from stepgrid.run.attempt import Attempt, Job
from stepgrid.run.options import AcceptedOptions
from stepgrid.run.server import serving
from stepgrid.run.server_process import Server
from tests.run.server.asking import Asking

LISTEN = """
import os, signal, socket, sys, time
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
print("listening as", os.getuid(), file=sys.stderr, flush=True)
"""
UNTIL_TERM = LISTEN + "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\nsignal.pause()\n"
DEAF = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + LISTEN + "time.sleep(60)\n"
NEVER_READY = "import time; time.sleep(60)"
DIES = "import sys; sys.exit('2026-01-01 0 [ERROR] /a/b: no such page size.')"


class Toy:
    name = "trial"
    programs: tuple[str, ...] = ("python",)
    kinds: tuple[str, ...] = ("trial",)
    immutable: tuple[str, ...] = ()
    default_storage_engine = "toys"
    server = True
    stop = signal.SIGTERM
    socket = "toy.sock"
    port = 1
    user = database = "toy"
    code = UNTIL_TERM
    make = "import pathlib, sys; pathlib.Path(sys.argv[1], 'made').touch()"

    def configuration(self, home: ServerHome, options: Mapping[str, Any]) -> Mapping[str, str]:
        return {"toy.cnf": "".join(f"{name}={value}\n" for name, value in options.items())}

    def initialize(self, home: ServerHome) -> Sequence[Command]:
        return [Command((sys.executable, "-c", self.make, str(home.data)), files={"secret": home.access.password})]

    def prepare(self, home: ServerHome) -> Sequence[Command]:
        return ()

    def serve(self, home: ServerHome) -> Command:
        return Command((sys.executable, "-c", self.code, str(home.access.socket)))

    def connect(self, access: Access) -> Connection:
        return Asking(access)

    def effective(self, connection: Connection, asked: Mapping[str, Any]) -> Effective:
        return Effective({"a": "1"}, {name: "it is 1" for name, value in asked.items() if value != 1})

    def counters(self, connection: Connection) -> Mapping[str, float]:
        return {}

    def looks(self, connection: Connection) -> StatisticsReaders:
        return ()

    def settle(self, connection: Connection, access: Access) -> AbstractContextManager[None]:
        return nullcontext()

    def analyze(self, connection: Connection, access: Access) -> None: ...

    def busy(self, connection: Connection, access: Access) -> Sequence[IdleReading]:
        return ()


Serve = Callable[..., AbstractContextManager[Server | None]]


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    module = type(sys)("toy_server")
    module.ENGINE = made = Toy()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "toy_server", module)
    monkeypatch.setitem(ENGINES.points, "trial", EntryPoint("trial", "toy_server:ENGINE", ENGINES.group))
    return made


@pytest.fixture
def attempt(checkout: Any, stage: Any, monkeypatch: pytest.MonkeyPatch) -> Attempt:
    monkeypatch.chdir(checkout.folder)
    checkout.plan(stage())
    return Attempt(Job.load(checkout.store, "p", "s-load"))


@pytest.fixture
def serve(toy: Toy, attempt: Attempt, tmp_path: Path) -> Serve:
    data = tmp_path / "live" / "data"
    data.mkdir(parents=True)

    def served(**options: Any) -> AbstractContextManager[Server | None]:
        return serving(attempt, attempt.job.stage, attempt.folder, data, [AcceptedOptions(options)])

    return served


def _journal(attempt: Attempt) -> dict[str, dict[str, Any]]:
    lines = (attempt.folder / "journal.jsonl").read_text().splitlines()
    return {event["event"]: event for event in map(json.loads, lines)}


def _failure(serve: Serve, **options: Any) -> StageError:
    with pytest.raises(StageError) as caught, serve(**options):
        raise AssertionError("it began")
    return caught.value


def test_a_server_from_its_start_to_its_end(serve: Serve, attempt: Attempt, gone: Callable[[int], bool]) -> None:
    with serve(a=1, b=2) as server:
        assert server is not None
        assert server.access.socket.stat()
        assert server.access.sockets.stat().st_mode & 0o777 == 0o700
        assert server.gone() is False
        pid, place = server.pid, server.access.sockets
    assert gone(pid)
    assert not place.exists()
    told = _journal(attempt)
    assert [name for name in told if name.startswith("server")] == [
        "server initialize",
        "server started",
        "server ready",
        "server stopped",
    ]
    assert (told["server stopped"]["exit"], told["server stopped"]["killed"]) == (0, False)
    own = attempt.folder / "server"
    assert (own / "toy.cnf").read_text() == "a=1\nb=2\n"
    assert json.loads((own / "effective.json").read_text()) == {"values": {"a": "1"}, "differs": {"b": "it is 1"}}
    assert server.warnings == ["`b`: it is 1"]
    assert server.add_warnings({"name": "x"}) == {"name": "x", "warnings": ["`b`: it is 1"]}
    assert not [*own.rglob("secret")]


def test_a_database_is_made_once(serve: Serve, attempt: Attempt, toy: Toy) -> None:
    with serve():
        pass
    (attempt.folder / "server").rename(attempt.folder / "first")
    toy.make = "raise SystemExit('made again')"
    with serve():
        pass


def test_it_is_not_root(serve: Serve, attempt: Attempt) -> None:
    with serve():
        pass
    assert "listening as 0\n" not in (attempt.folder / "server" / "stderr").read_text()


def test_a_server_that_ends_before_it_is_ready(serve: Serve, toy: Toy, attempt: Attempt) -> None:
    toy.code = DIES
    failure = _failure(serve)
    assert failure.message == "the server ended with exit status 1 before it was ready: no such page size"
    assert failure.tail == "2026-01-01 0 [ERROR] /a/b: no such page size."
    assert failure.log == attempt.folder.resolve() / "server" / "stderr"


def test_a_server_that_is_never_ready(serve: Serve, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.code = NEVER_READY
    monkeypatch.setenv("STEPGRID_READY", "0.5")
    said = "the server was not ready within 0.5 s; its client was told: [Errno 2] No such file or directory"
    assert _failure(serve).message == said


def test_a_server_that_is_halted_before_it_is_ready(serve: Serve, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.code = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    monkeypatch.setenv("STEPGRID_READY", "0.5")
    said = "the server was not ready within 0.5 s: it was stopped (state T), by SIGSTOP or a debugger"
    assert _failure(serve).message == said


def test_a_client_that_is_refused(serve: Serve, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_access: Access) -> Connection:
        raise RuntimeError("wrong password")

    monkeypatch.setattr(toy, "connect", refuse, raising=False)
    assert _failure(serve).message == "the server runs, but does not let its client in: wrong password"


def test_a_database_that_cannot_be_made(serve: Serve, toy: Toy) -> None:
    toy.make = "import os; os.kill(os.getpid(), 9)"
    said = "making the database failed: it was killed by SIGKILL (by the kernel when memory runs out, or by someone)"
    assert _failure(serve).message == said


def test_a_program_that_is_not_there(serve: Serve, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy, "serve", lambda _home: Command(("/gone/server",)), raising=False)
    assert _failure(serve).message == "the program /gone/server cannot be started: No such file or directory"


def test_a_server_that_does_not_end_is_killed_and_that_is_told(
    serve: Serve, toy: Toy, attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.code = DEAF
    monkeypatch.setenv("STEPGRID_PATIENCE", "0.5")
    with serve() as server:
        assert server is not None
    assert server.warnings == ["the server did not end within 0.5 s, and was killed"]
    assert _journal(attempt)["server stopped"]["killed"] is True


def test_a_server_that_is_killed_is_blamed(serve: Serve) -> None:
    with serve() as server:
        assert server is not None
        os.kill(server.pid, signal.SIGKILL)
        assert server.gone(10.0)
        failure = server.failure(" while the step ran", "a")
        assert failure.step == "a"
        assert failure.message == (
            "the server was killed by SIGKILL (by the kernel when memory runs out, or by someone) while the step ran"
        )


def test_after_a_failure_nobody_waits_for_it(serve: Serve, toy: Toy, gone: Callable[[int], bool]) -> None:
    toy.code = DEAF
    seen: list[int] = []

    def failing() -> None:
        with serve() as server:
            assert server is not None
            seen.append(server.pid)
            raise StageError("a step failed")

    with pytest.raises(StageError, match="a step failed"):
        failing()
    assert gone(seen[0])


def test_an_engine_that_is_no_server_has_none(attempt: Attempt, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(ENGINES.points, "trial", ENGINES.points["program"])
    with serving(attempt, attempt.job.stage, attempt.folder, tmp_path, []) as server:
        assert server is None
    assert not (attempt.folder / "server").exists()


def test_a_folder_that_the_server_cannot_enter(serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from stepgrid.host.processes import supervision

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(supervision, "can_enter_namespace", lambda *_: False)
    monkeypatch.setattr(supervision, "closed_folder", lambda _user, path: path.parents[-2])
    top = tmp_path.parents[-2]
    assert _failure(serve).message == (
        f"servers do not run as root, so this one would run as nobody, who cannot enter {top}; use a folder that "
        "everyone may enter (`chmod o+x`, or `data` of a site file), or run as an ordinary user"
    )


def test_who_it_becomes_is_told(serve: Serve, attempt: Attempt) -> None:
    with serve():
        pass
    about = _journal(attempt)["server started"]
    assert about.get("user") == ("nobody" if os.geteuid() == 0 else None)
    assert User("a", 1, 2).inside is False


@pytest.mark.parametrize(("cpus", "said"), [("0", None), (f"0-{os.cpu_count()}", "is not in force: it has ")])
def test_a_server_is_looked_at_before_it_starts(
    checkout: Any,
    stage: Any,
    step: Any,
    toy: Toy,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cpus: str,
    said: str,
) -> None:
    monkeypatch.chdir(checkout.folder)
    checkout.plan(stage("s-load", replace(step("load", "pass"), setup={"launch": {"cpus": cpus}})))
    attempt = Attempt(Job.load(checkout.store, "p", "s-load"))
    (tmp_path / "data").mkdir()
    toy.code = f"import pathlib; pathlib.Path({str(tmp_path / 'began')!r}).touch()\n{UNTIL_TERM}"
    failing = pytest.raises(StageError, match=f"^`cpus: {cpus}` {said}") if said else nullcontext()
    with failing, serving(attempt, attempt.job.stage, attempt.folder, tmp_path / "data", [AcceptedOptions({})]):
        assert not said
    assert (tmp_path / "began").exists() is not bool(said)
    assert _journal(attempt).get("server ready", {}).get("launch") == (None if said else {"cpus": "0"})
