"""A server that ran before: reached, compared with its build, left as it is; and its process, if it is here."""

import os
import socket
import sys
from contextlib import closing
from importlib.metadata import EntryPoint

import pytest

import stepgrid.plugins.registry
from stepgrid.host.failure import StageError
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.records import replace
from stepgrid.model.site import Site, SiteServer
from stepgrid.plugins.engine import Identity, IdentityError
from stepgrid.plugins.registry import ENGINES
from stepgrid.plugins.server import Access, Effective, ServerDescription, ServerStart
from stepgrid.run import external_server
from stepgrid.run.attempt import Attempt, Job
from stepgrid.run.options import AcceptedOptions
from stepgrid.run.server import serving
from tests.run.asking import Asking

BUILD = PlannedBuild("b-1", "prod", "trial", "1.0", {"server": "prod"}, "a.yaml:2:9")


class Toy:
    """Of a running half it has what is asked of a server that is not started."""

    name = "trial"
    programs: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("trial",)
    immutable: tuple[str, ...] = ()
    default_storage_engine = "toys"
    server = True
    port = 1
    version, up, data = "1.0", 100.0, "/"
    refusal: Exception | None = None

    def socket_of(self, given, port):
        return given, port

    def connect(self, access):
        if self.refusal:
            raise self.refusal
        return Asking(access)

    def described(self, connection):
        if not self.version:
            raise IdentityError("it is MariaDB 1, and the build's engine is trial")
        return ServerDescription(Identity(self.version), {})

    def since(self, connection):
        return ServerStart(self.up, None, self.data)

    def compared(self, connection, asked):
        return Effective({"a": "1"}, {name: "it is 1" for name, value in asked.items() if value != 1})


@pytest.fixture
def toy(monkeypatch):
    module = type(sys)("toy_server")
    module.ENGINE = made = Toy()
    monkeypatch.setitem(sys.modules, "toy_server", module)
    monkeypatch.setitem(ENGINES.points, "trial", EntryPoint("trial", "toy_server:ENGINE", ENGINES.group))
    for name in ("engine", "server_engine"):
        monkeypatch.setattr(stepgrid.plugins.registry, name, lambda _name: made)
    monkeypatch.setenv("STEPGRID_READY", "0")
    return made


@pytest.fixture
def listening(tmp_path):
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(str(tmp_path / "s"))
        made.listen()
        yield made


@pytest.fixture
def attempt(checkout, stage, tmp_path, toy, monkeypatch):
    monkeypatch.chdir(checkout.folder)
    checkout.plan(stage(), builds=[BUILD])
    checkout.build(BUILD)
    site = Site("site.yaml", servers={"prod": SiteServer("u", "d", socket=str(tmp_path / "s"))})
    return Attempt(Job.load(checkout.store, "p", "s-load", site))


@pytest.fixture
def serve(attempt, tmp_path):
    def served(**options):
        return serving(attempt, attempt.job.stage, attempt.folder, tmp_path / "data", [AcceptedOptions(options)])

    return served


def _failure(serve):
    with pytest.raises(StageError) as caught, serve():
        raise AssertionError("it began")
    return caught.value.message


def test_of_one_that_is_not_here_little_is_known(serve, listening, monkeypatch):
    monkeypatch.setattr(external_server, "find_process", lambda _access, _said: None)
    with serve() as server:
        assert isinstance(server, external_server.ExternalServer)
        assert (server.pid, server.device, server.halted) == (None, None, False)
    assert server.warnings == [external_server.ELSEWHERE]


REFUSALS = [
    ({}, "cannot be reached: No such file or directory"),
    ({"refusal": RuntimeError(1045, "Access denied for user 'u'")}, "does not let us in: Access denied for user 'u'"),
    ({"version": "1.1"}, "says 1.1 by now, and its build was recorded as 1.0: declare the version that it says"),
    ({"version": ""}, "is not the build's any more: it is MariaDB 1, and the build's engine is trial"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSALS)
def test_one_that_is_not_as_its_build_says(serve, toy, request, tmp_path, changes, message):
    if "version" in changes:
        request.getfixturevalue("listening")
    for name, value in changes.items():
        setattr(toy, name, value)
    assert _failure(serve) == f"the server `prod` ({tmp_path}/s) {message}"


NOWHERE = SiteServer("u", "d", host="db1", password_file="/gone")


@pytest.mark.parametrize(
    ("servers", "message"),
    [
        ({}, "a.yaml:2:9: build prod: the site file site.yaml has no `prod` under `servers`: it names none"),
        (
            {"prod": NOWHERE},
            "the password of the server `prod` cannot be read: [Errno 2] No such file or directory: '/gone'",
        ),
    ],
)
def test_what_the_site_file_lacks(serve, attempt, servers, message):
    attempt.job = replace(attempt.job, site=Site("site.yaml", servers=servers))
    assert _failure(serve) == message


def test_one_that_is_lost_or_was_started_anew(serve, toy, listening, tmp_path):
    shown = f"the server `prod` ({tmp_path}/s) was"
    with serve(a=1, b=2) as server:
        assert (server.access.running, server.access.user, server.access.storage_engine) == (True, "u", "toys")
        assert server.warnings == ["`b`: it is 1"]
        assert not server.gone()
        assert server.crash("a") is None
        toy.up = 1.0
        assert server.crash("a") == StageError(f"{shown} started anew while the step ran", "a")
        toy.refusal = ConnectionError(1040, "Too many connections")
        assert not server.gone(), "it is there, without a free connection"
        toy.refusal = None
        listening.close()
        assert server.gone()
        said = f"{shown} lost while the step ran: Connection refused"
        assert server.failure(" while the step ran", "a") == StageError(said, "a")


def _access(place, host="", port=1):
    return Access("mysql", place, place / "s", port, "u", "", "d", "innodb", host, True)


def test_who_listens_at_a_port(tmp_path):
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
