"""A server by itself, as a stage would have it: set up, started, ready, ended."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stepgrid.build.record import programs
from stepgrid.host.processes import supervision
from stepgrid.host.processes.supervision import Program, User, environment, give_files, server_user, supervise
from stepgrid.model.plan import Command
from stepgrid.plugins import registry
from stepgrid.plugins.server import Access, ServerEngine, ServerHome
from stepgrid.run.attempt import attach
from stepgrid.run.server import connect
from stepgrid.run.server_process import Server, socket_folder

PATIENCE, SET_UP = 60.0, 300.0


@contextmanager
def serving(
    build: Path, record: Mapping[str, Any], folder: Path, options: Mapping[str, Any], storage: str
) -> Iterator[Access]:
    """Of that build, with its database and its logs in the folder: the one that is there already, or a new one."""
    engine = registry.server_engine(str(record["engine"]))
    assert engine is not None
    known = programs(build)
    data, own = folder / "data", folder / "server"
    new = not data.exists()
    for place in (data, own, folder / "scratch"):
        place.mkdir(parents=True, exist_ok=True)
    user = server_user([data / "x", own / "x", *(Path(prefix[0]) for prefix in known.values())])
    with socket_folder(engine.socket, user) as place:
        home = _home(engine, build, record, known, data, own, place, user, storage)
        _set_up(engine, home, user, options, new)
        server = _started(engine, home, user)
        try:
            connect(engine, server).close()
            yield home.access
        finally:
            supervision.stop(server.pid, engine.stop, PATIENCE)
            supervision.reap(server.child)


def _home(
    engine: ServerEngine,
    build: Path,
    record: Mapping[str, Any],
    known: Mapping[str, Sequence[str]],
    data: Path,
    own: Path,
    place: Path,
    user: User | None,
    storage: str,
) -> ServerHome:
    password, socket = secrets.token_hex(16), place / engine.socket
    named = str(record["engine"])
    access = Access(named, place, socket, engine.port, engine.user, password, engine.database, storage)
    facts = record.get("facts") or {}
    places = {name: build.resolve() / str(facts[name]) for name in ("basedir", "system tables") if facts.get(name)}
    account = user.name if user and user.inside else ""
    return ServerHome(known, str(record["version"]), data, own, access, data.with_name("scratch"), places, account)


def _set_up(engine: ServerEngine, home: ServerHome, user: User | None, options: Mapping[str, Any], new: bool) -> None:
    home.data.chmod(0o700)
    attach(home.folder, engine.configuration(home, options), 0o644)
    give_files(user, home.data, home.folder, home.scratch)
    initialize = engine.initialize(home) if new else ()
    for index, command in enumerate((*initialize, *engine.prepare(home))):
        folder = home.folder / f"set-up-{index}"
        folder.mkdir(exist_ok=True)
        argv, env = _command(command, home, folder, user)
        ended = supervise(Program(argv, env, folder, user), SET_UP)
        assert not ended.exit, (folder / "stderr").read_text()


def _started(engine: ServerEngine, home: ServerHome, user: User | None) -> Server:
    argv, env = _command(engine.serve(home), home, home.folder, user)
    child = supervision.spawn(Program(argv, env, home.folder, user))
    return Server(home.access, home.folder, child, home.data)


def _command(
    command: Command, home: ServerHome, folder: Path, user: User | None
) -> tuple[Sequence[str], Mapping[str, str]]:
    attach(folder, command.files)  # one with a password is in the folder of the socket
    give_files(user, folder, home.access.sockets)
    return command.argv, environment(
        command.argv[0], {"HOME": str(home.scratch), "TMPDIR": str(home.scratch), **command.env}
    )
