"""The server around the steps of a stage: an engine's, one that a build declares, and its statistics."""

import json
import os
import signal
import socket
import sys
import threading
from contextlib import closing, nullcontext
from importlib.metadata import EntryPoint

import pytest
from msgspec import convert

from stepgrid.host.failure import StageError
from stepgrid.model.plan import Command, PlannedBuild
from stepgrid.model.records import StepRecord, StepSetup, replace
from stepgrid.plugins.registry import ENGINES
from stepgrid.plugins.server import Effective, ServerStatistics, StatisticsReader
from stepgrid.run.attempt import AFTER, BEFORE, Attempt, Job
from stepgrid.run.options import AcceptedOptions
from stepgrid.run.server import keep_statistics, serving
from stepgrid.run.server_process import Server
from tests.cases import rows
from tests.run.asking import Asking

LISTEN = """
import os, signal, socket, sys, time
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
print("listening as", os.getuid(), file=sys.stderr, flush=True)
"""
UNTIL_TERM = LISTEN + "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\nsignal.pause()\n"
DEAF = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + LISTEN + "time.sleep(60)\n"


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
    refusal = ""
    make = "import pathlib, sys; pathlib.Path(sys.argv[1], 'made').touch()"

    def configuration(self, home, options):
        return {"toy.cnf": "".join(f"{name}={value}\n" for name, value in options.items())}

    def initialize(self, home):
        return [Command((sys.executable, "-c", self.make, str(home.data)), files={"secret": home.access.password})]

    def prepare(self, home):
        return ()

    def serve(self, home):
        return Command((sys.executable, "-c", self.code, str(home.access.socket)))

    def connect(self, access):
        if self.refusal:
            raise RuntimeError(self.refusal)
        return Asking(access)

    def effective(self, connection, asked):
        return Effective({"a": "1"}, {name: "it is 1" for name, value in asked.items() if value != 1})

    def counters(self, connection):
        return {}

    def looks(self, connection):
        return ()

    def settle(self, connection, access):
        return nullcontext()

    def analyze(self, connection, access): ...

    def busy(self, connection, access):
        return ()


@pytest.fixture
def toy(monkeypatch):
    module = type(sys)("toy_server")
    module.ENGINE = made = Toy()
    monkeypatch.setitem(sys.modules, "toy_server", module)
    monkeypatch.setitem(ENGINES.points, "trial", EntryPoint("trial", "toy_server:ENGINE", ENGINES.group))
    return made


@pytest.fixture
def attempt(checkout, stage, monkeypatch):
    monkeypatch.chdir(checkout.folder)
    checkout.plan(stage())
    return Attempt(Job.load(checkout.store, "p", "s-load"))


@pytest.fixture
def serve(toy, attempt, tmp_path):
    data = tmp_path / "live" / "data"
    data.mkdir(parents=True)

    def served(**options):
        return serving(attempt, attempt.job.stage, attempt.folder, data, [AcceptedOptions(options)])

    return served


def _journal(attempt):
    lines = (attempt.folder / "journal.jsonl").read_text().splitlines()
    return {event["event"]: event for event in map(json.loads, lines)}


def _failure(served):
    with pytest.raises(StageError) as caught, served:
        raise AssertionError("it began")
    return caught.value


def test_a_server_from_its_start_to_its_end(serve, attempt, gone):
    with serve(a=1, b=2) as server:
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
    assert server.add_warnings(StepRecord(name="x")) == StepRecord(name="x", warnings=("`b`: it is 1",))
    assert not [*own.rglob("secret")]


def test_a_database_is_made_once(serve, attempt, toy):
    with serve():
        pass
    (attempt.folder / "server").rename(attempt.folder / "first")
    toy.make = "raise SystemExit('made again')"
    with serve():
        pass


FAILING_STARTS = rows(__file__, "failing_starts")


@pytest.mark.parametrize(("changes", "message"), FAILING_STARTS)
def test_a_server_that_does_not_begin(serve, toy, attempt, monkeypatch, changes, message):
    """Also one that is halted, as by a debugger."""
    for name, value in changes.items():
        setattr(toy, name, value)
    if not toy.refusal:
        monkeypatch.setenv("STEPGRID_READY", "0.5")
    failure = _failure(serve())
    assert failure.message == message
    if "page size" in message:
        assert failure.tail == "2026-01-01 0 [ERROR] /a/b: no such page size."
        assert failure.log == attempt.folder.resolve() / "server" / "stderr"


def test_a_server_that_does_not_end_is_killed_and_that_is_told(serve, toy, attempt, monkeypatch):
    toy.code = DEAF
    monkeypatch.setenv("STEPGRID_PATIENCE", "0.5")
    with serve() as server:
        assert server is not None
    assert server.warnings == ["the server did not end within 0.5 s, and was killed"]
    assert _journal(attempt)["server stopped"]["killed"] is True


def test_a_folder_that_the_server_cannot_enter(serve, monkeypatch, tmp_path):
    from stepgrid.host.processes import supervision

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(supervision, "can_enter_namespace", lambda *_: False)
    monkeypatch.setattr(supervision, "closed_folder", lambda _user, path: path.parents[-2])
    top = tmp_path.parents[-2]
    assert _failure(serve()).message == (
        f"servers do not run as root, so this one would run as nobody, who cannot enter {top}; use a folder that "
        "everyone may enter (`chmod o+x`, or `data` of a site file), or run as an ordinary user"
    )


@pytest.mark.parametrize(("cpus", "said"), [("0", None), (f"0-{os.cpu_count()}", "is not in force: it has ")])
def test_a_server_is_looked_at_before_it_starts(checkout, stage, step, toy, tmp_path, monkeypatch, cpus, said):
    monkeypatch.chdir(checkout.folder)
    checkout.plan(stage("s-load", replace(step("load", "pass"), setup=convert({"launch": {"cpus": cpus}}, StepSetup))))
    attempt = Attempt(Job.load(checkout.store, "p", "s-load"))
    (tmp_path / "data").mkdir()
    toy.code = f"import pathlib; pathlib.Path({str(tmp_path / 'began')!r}).touch()\n{UNTIL_TERM}"
    failing = pytest.raises(StageError, match=f"^`cpus: {cpus}` {said}") if said else nullcontext()
    with failing, serving(attempt, attempt.job.stage, attempt.folder, tmp_path / "data", [AcceptedOptions({})]):
        assert not said
    assert (tmp_path / "began").exists() is not bool(said)
    assert _journal(attempt).get("server ready", {}).get("launch") == (None if said else {"cpus": "0"})


LISTEN_AT_PORT = """
import os, signal, socket, sys, time
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print(*sys.argv[2:], os.environ.get("LOG", ""), file=sys.stderr, flush=True)
"""
WAIT = LISTEN_AT_PORT + "time.sleep(60)\n"
DEAF_SERVICE = LISTEN_AT_PORT + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)\n"
PORT = {"port": "{port}", "timeout": 30.0}
SILENT = "import time; print('reading', flush=True); time.sleep(60)"
OWN = PlannedBuild("b-1", "own", "program", "1.0", {"system": "python3"})


@pytest.fixture
def declare(checkout, stage, step, monkeypatch, tmp_path):
    monkeypatch.chdir(checkout.folder)
    data = tmp_path / "live" / "data"
    data.mkdir(parents=True)

    def served(code=WAIT, *words, ready=PORT, **said):
        service = {"argv": [sys.executable, "-c", code, *(words or ("{port}",))], "ready": dict(ready), **said}
        checkout.plan(stage("s-load", replace(step(), setup=convert({"service": service}, StepSetup))), builds=(OWN,))
        attempt = Attempt(Job.load(checkout.store, "p", "s-load"))
        return serving(attempt, attempt.job.stage, attempt.folder, data, [AcceptedOptions({"a": 1, "b": True})])

    return served


def _told(server):
    return (server.folder / "stderr").read_text()


def test_its_words_and_how_clients_find_it(declare, gone):
    words = ("{port}", "{host}", "{data}", "{options}")
    with declare(WAIT, *words, option=["--{name}", "{value}"], env={"LOG": "{folder}/log"}) as server:
        found = server.access.placeholders()
        assert sorted(found) == ["host", "port", "socket", "sockets"]
        with closing(socket.create_connection((found["host"], int(found["port"])))):
            pass
        data, pid = server.folder.parents[4] / "live" / "data", server.companion
        assert _told(server) == f"127.0.0.1 {data} --a 1 --b true {server.folder}/log\n"
    assert pid is not None
    assert gone(pid)
    assert server.warnings == [], "a program that leaves SIGTERM to the system ends as it should"


def test_one_that_is_ready_when_a_command_says_so(declare, tmp_path):
    tries = tmp_path / "tries"
    tries.write_text("")
    command = ["sh", "-c", f"echo x >> {tries}; test $(wc -l < {tries}) -ge 3"]
    with declare(ready={"command": command}) as server:
        assert server is not None
        assert tries.read_text() == "x\n" * 3


@pytest.mark.parametrize(
    ("code", "said", "message", "tail"),
    [
        (
            SILENT,
            {"ready": {"port": "{port}", "timeout": 1.0}},
            "the server was not ready within 1 s; its client was told: [Errno 111] Connection refused",
            "reading",
        ),
        (
            "raise SystemExit('no such option')",
            {},
            "the server ended with exit status 1 before it was ready",
            "no such option",
        ),
        (
            WAIT,
            {"stop": {"command": ["sh", "-c", "echo who; exit 2"]}},
            "stopping the server failed: it ended with exit status 2",
            "who",
        ),
    ],
)
def test_a_service_that_fails(declare, code, said, message, tail):
    with pytest.raises(StageError) as caught, declare(code, **said):
        assert "stop" in said
    assert (caught.value.message, caught.value.tail) == (message, tail)


def test_one_that_does_not_end_has_no_whole_database(declare, gone):
    seen = []
    with pytest.raises(StageError) as caught, declare(DEAF_SERVICE, stop={"timeout": 0.5}) as server:
        seen.append(server.companion)
    assert caught.value.message == (
        "the server did not end within 0.5 s, and was killed: its database may be incomplete"
    )
    assert gone(*seen)


def test_the_signal_that_it_wants(declare):
    ends = LISTEN_AT_PORT + "signal.signal(signal.SIGUSR1, lambda *_: sys.exit(5))\nsignal.pause()\n"
    with declare(ends, stop={"signal": "SIGUSR1", "timeout": 20.0}) as server:
        assert server is not None
    assert server.warnings == ["the server ended with exit status 5 when it was asked to end"]


def test_a_command_that_ends_it(declare, tmp_path):
    ends = LISTEN_AT_PORT + "connected, _ = listening.accept()\n" * 2
    ask = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))"
    with declare(ends, stop={"command": [sys.executable, "-c", ask, "{port}"], "timeout": 20.0}) as server:
        assert server is not None
    assert server.warnings == []
    assert json.loads((server.folder / "stop-0" / "command.json").read_text())["argv"][-1].isdigit()


def test_a_port_that_somebody_else_listens_on(declare):
    """Its clients would ask, and fill, another server."""
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = str(other.getsockname()[1])
        failure = _failure(declare(ready={"port": port}))
    assert failure.message == f"the server cannot be set up: another program listens on port {port}; use `{{port}}`"


class Engine:
    def __init__(self, looks):
        self._looks, self.closed = looks, 0

    def connect(self, _access):
        return self

    def close(self):
        self.closed += 1

    def looks(self, _connection):
        return self._looks


@pytest.fixture
def server(tmp_path):
    return Server(None, tmp_path / "server", None, tmp_path)


@pytest.fixture
def step_folder(tmp_path):
    folder = tmp_path / "0-read"
    folder.mkdir()
    return folder


@pytest.fixture
def keep(server, step_folder):
    def kept(engine, when=BEFORE):
        keep_statistics(engine, server, step_folder, when)
        found = json.loads((step_folder / "statistics" / f"{when}.json").read_text())
        return {name: value for name, value in found.items() if name != "seconds"}

    return kept


def test_a_server_that_lets_nobody_in(keep, server, monkeypatch):
    def refuse(_access):
        raise ConnectionError("Too many connections")

    engine = Engine([])
    monkeypatch.setattr(engine, "connect", refuse)
    assert keep(engine, AFTER)["counters"] == {}
    assert server.warnings == ["read: the server's statistics after it could not be read: Too many connections"]


def test_a_server_that_does_not_answer(keep, server, monkeypatch):
    monkeypatch.setenv("STEPGRID_STATISTICS", "1")
    over = threading.Event()

    def hang():
        over.wait()
        return ServerStatistics()

    keep(Engine([StatisticsReader("status", lambda: ServerStatistics({"x": 1.0})), StatisticsReader("tables", hang)]))
    assert server.warnings == [
        "read: the server's statistics before it could not be read: it did not answer within 1 s"
    ]
    over.set()
