"""Client programs of steps on the machine that the site file names: reached, given programs, asked to run them."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

from msgspec import Struct

from stepgrid.host.facts import ADDRESSES, CLIENT_ALIAS
from stepgrid.host.failure import StageError
from stepgrid.host.files import read_json
from stepgrid.host.processes.launch import LaunchError, LaunchPlan
from stepgrid.host.processes.supervision import FIXED, ProcessEnd, Program, describe_exit, environment
from stepgrid.host.remote import agent, relay
from stepgrid.host.remote.answers import ClientEnd, RemoteFacts, receive_answer
from stepgrid.host.remote.relay import RESULT, SAMPLES, SshConnection
from stepgrid.model.plan import PlannedStage, PlannedStep
from stepgrid.model.records import Json, parse_record, replace
from stepgrid.model.site import Site, SiteClient
from stepgrid.plugins.registry import runner
from stepgrid.plugins.server import Access, NetworkServer, RemoteClient
from stepgrid.run.attempt import AFTER, BEFORE, FILES, FOLDERS, STATISTICS_FOLDER, Attempt, Job, attach

REQUEST = "client-request.json"  # in the step's folder until the program starts; it has a password
ANSWER = 30.0  # seconds
COPYING = 600.0  # seconds for each program
STALLED = 120.0  # seconds in which nothing more of a program was taken
SSH_OPTIONS = (
    *("-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"),
    *("-o", "ControlMaster=no", "-o", "ControlPath=none", "-T", "-a", "-x"),  # its own connection, for nothing else
)
# Python takes its program from the first bytes that come
START = (
    'exec python3 -I -c \'import sys; source = sys.stdin.buffer; names = {"__name__": "agent"}; '
    'exec(compile(source.read(int(source.readline())), "stepgrid", "exec"), names); names["serve"]()'
    "'"
)
AGENTS = ("SSH_AUTH_SOCK", "KRB5CCNAME")  # what a user's ssh may need
BUSY_CPU, BUSY_NETWORK = 90.0, 0.8


class NetworkSpeed(NamedTuple):
    rtt_us: float
    rtt_p99_us: float
    bytes_per_s: float  # the slower of both ways


class ClientHost(Struct):
    """The machine of the clients, as it was reached."""

    entry: SiteClient
    ssh: tuple[str, ...]
    address: str  # that its connections come from
    facts: RemoteFacts
    network: NetworkSpeed
    variables: dict[str, str] = {}  # for clients, once the server is ready: whether they ask for TLS
    tls_counter: str = ""  # of the server, where they decide it
    tls: set[bool] = set()  # whether clients of measured steps had it
    provided: set[str] = set()

    def record(self) -> dict[str, Json]:
        """Return facts of the host, for the record of an attempt."""
        names = ("hostname", "cpu", "cores", "memory", "kernel")
        addresses = dict(zip(ADDRESSES, (self.entry.listen, self.address), strict=True))
        return {
            **{name: address for name, address in addresses.items() if address not in ("127.0.0.1", "::1")},
            **{f"client_{name}": getattr(self.facts, name) for name in names},
            **{f"network_{name}": round(value, 1) for name, value in self.network._asdict().items()},
        }

    def provide(self, folders: Mapping[str, Path]) -> None:
        """Copy what is not there, by key."""
        missing = {key: path for key, path in folders.items() if key not in self.provided}
        if not missing:
            return
        with connect(self.entry, self.ssh) as link:
            link.send_json(action="provide", folder=self.entry.folder, keys=sorted(missing))
            for key in filter(missing.__contains__, receive_answer(link, ANSWER).missing):
                stream = agent.ArchiveStream(link)
                with tarfile.open(fileobj=stream, mode="w|") as archive:  # type: ignore[call-overload]
                    archive.add(missing[key], arcname="." if missing[key].is_dir() else missing[key].name)
                link.send(agent.ARCHIVE)
            receive_answer(link, COPYING)
        self.provided.update(missing)

    def hide_address(self, text: str) -> str:
        """Write the server's address as specs do: reports show commands."""
        return re.sub(rf"(?<![\w.]){re.escape(self.entry.listen)}(?!\.?\w)", "{host}", text)

    def access(self, access: Access) -> Access:
        return access._replace(host=access.listen)

    def program(self, job: Job, step: PlannedStep, plan: LaunchPlan, folder: Path) -> Program:
        """Copy what the command of a step names, and make the program that stands for it here."""
        command, programs = plan.command, dict[str, str]()
        words = [*command.argv, *command.env.values()]
        folders = dict[str, Path]()
        for path, key, name in _named_files(job, step):
            if any(_names(word, [path]) for word in words):
                folders[key] = Path(path)
                programs[path] = f"{key}{name}"
        self._refuse_words(words, [*programs, str(folder.resolve())], str(job.store.data.resolve()))
        self.provide(folders)
        values = [part for word in command.argv[1:] for part in (word, word.partition("=")[2]) if part.startswith("/")]
        request = {
            "here": [path for path in values if os.path.lexists(path) and not _names(path, [*programs, str(folder)])],
            "ssh": [*self.ssh, START],
            "host": self.entry.host,
            "folder": self.entry.folder,
            "argv": list(command.argv),
            "env": {**FIXED, **command.env, **self.variables},
            "files": {**step.files, **command.files},
            "programs": programs,
            "step": str(folder.resolve()),
            "reserved": [*FILES, *FOLDERS, REQUEST],
        }
        attach(folder, {REQUEST: json.dumps(request)})
        variables = {name: os.environ[name] for name in AGENTS if name in os.environ}
        variables["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
        argv = (sys.executable, "-m", relay.__name__, REQUEST)
        return Program(argv, environment(sys.executable, variables), folder)

    def _refuse_words(self, words: Sequence[str], copied: Sequence[str], data: str) -> None:
        program = words[0]
        if program.startswith("/") and not _names(program, copied):
            raise LaunchError(
                f"{program} is a program of this machine, and clients run on {self.entry.host}: take one of a build, "
                "list it under `files:`, or give its name without a path, which is looked for there"
            )
        for word in words:
            if _names(agent.translate(word, dict.fromkeys(copied, "")), [data]):
                raise LaunchError(f"the command names {word}, which is here, and clients run on {self.entry.host}")

    def explain(self, process: ProcessEnd, end: ClientEnd) -> str | None:
        """Say which end was lost; None: neither."""
        if end.program or process.overdue or process.deserted:
            return None
        return end.lost or f"the connection to {self.entry.host} was lost: ssh {describe_exit(process.exit)}"

    def missing_file(self, end: ClientEnd) -> str:
        """Name a path of the command that is here and was not there, as the end of a sentence; empty: none."""
        missing = [path for path in (end.program.missing if end.program else ()) if os.path.lexists(path)]
        hint = f"not on {self.entry.host}: list it under `files:`"
        return f"; {missing[0]} is on this machine and {hint}" if missing else ""

    def warnings(self, attempt: Attempt, folder: Path) -> Iterator[str]:
        """Note whether the clients used TLS; warn where they were the limit."""
        paths = (folder / STATISTICS_FOLDER / f"{when}.json" for when in (BEFORE, AFTER))
        before, after = ((read_json(path).get("gauges") or {}).get(self.tls_counter) for path in paths)
        if mode := self.variables.get("PGSSLMODE"):
            self.tls.add(mode == "require")
        elif before is not None and after is not None and after >= before:
            self.tls.add(after > before)
        if self.tls:
            attempt.note_host({"client_tls": min(self.tls) if len(self.tls) == 1 else "in part"})
        end = read_end(folder).program
        if end is None:
            return
        limit = "the client is the limit, not the server"
        if end.cpu_pct > BUSY_CPU:
            yield f"the CPU of the clients' machine was {end.cpu_pct:.0f} % busy: {limit}"
        share = end.network_bytes_per_s / self.network.bytes_per_s
        if share > BUSY_NETWORK:
            yield f"{100 * share:.0f} % of what the network to the clients' machine carries was used: it is the limit"


def reach_clients(attempt: Attempt, stage: PlannedStage, engine: object) -> ClientHost | None:
    """Look at the machine of the clients, if the site has one and a step of the stage runs there."""
    is_used = isinstance(engine, NetworkServer) and any(runs_there(step.kind) for step in stage.steps)
    if not is_used or not (entry := attempt.job.site.client):
        return None
    attempt.note_host({CLIENT_ALIAS: entry.host})
    if client := reach(attempt.job.site):
        attempt.note_host(client.record())
        attempt.journal("clients reached", **client.network._asdict())
    return client


def runs_there(kind: str) -> bool:
    """Tell whether steps of that kind are clients that may run on another machine."""
    driver: object = runner(kind)
    return isinstance(driver, RemoteClient) and driver.runs_remotely


def _names(word: str, paths: Sequence[str]) -> bool:
    return agent.translate(word, dict.fromkeys(paths, "")) != word


def _named_files(job: Job, step: PlannedStep) -> Iterator[tuple[str, str, str]]:
    """Yield what a command may name: its path here, the key of its content, and the rest of its path there."""
    for build in filter(None, (job.stage.build, step.client)):
        yield str(job.store.build(build).resolve()), f"{build}-{job.installed_build(build).record.checksum[:16]}", ""
    for name, path in step.setup.paths.items():
        file = Path(path).absolute()
        yield str(file), step.setup.files[name].replace(":", "-"), "" if file.is_dir() else f"/{file.name}"


def reach(site: Site) -> ClientHost | None:
    """Look at the clients' machine and the network; None where the site has none. StageError: it does not answer."""
    entry = site.client
    if entry is None:
        return None
    tool = shutil.which(site.tool("ssh"))
    if tool is None:
        raise StageError("`client` of the site file needs ssh; install openssh-client")
    ssh = (tool, *SSH_OPTIONS, "--", entry.host)
    try:
        listener = socket.create_server((entry.listen, 0), family=_family(entry.listen))
    except OSError as error:
        raise StageError(
            f"`client: listen`: this machine cannot listen at {entry.listen}: {os.strerror(error.errno or 0)}"
        ) from None
    token, echo = secrets.token_hex(8), dict[str, Any]()
    with closing(listener), connect(entry, ssh) as link:
        thread = Thread(target=_answer, args=(listener, token, echo), daemon=True)
        thread.start()
        address = [entry.listen, listener.getsockname()[1]]
        link.send_json(action="look", folder=entry.folder, address=address, token=token)
        answer = receive_answer(link, ANSWER)
        thread.join(ANSWER)
        facts, measured = answer.facts, answer.network
        if facts is None or measured is None or "address" not in echo:
            raise StageError(f"{entry.host} sent something else than figures of its network")
        network = NetworkSpeed(measured.rtt_us, measured.rtt_p99_us, min(measured.received, echo["received"]))
        return ClientHost(entry, ssh, str(echo["address"]), facts, network)


def own_port(address: str) -> int:
    """Choose a port of an address that is free."""
    with closing(socket.create_server((address, 0), family=_family(address))) as probe:
        return int(probe.getsockname()[1])


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


@contextmanager
def connect(entry: SiteClient, ssh: tuple[str, ...]) -> Iterator[agent.FrameLink]:
    """Start our Python there; StageError for all that goes wrong with it."""
    connection = SshConnection([*ssh, START], entry.host)
    has_ended, stalled = Event(), Event()

    def watch() -> None:
        while not has_ended.wait(1):
            if connection.link.is_sending and time.monotonic() - connection.link.sent > STALLED:
                stalled.set()
                connection.child.kill()

    Thread(target=watch, daemon=True).start()
    try:
        yield connection.link
    except (agent.LostError, OSError) as error:
        message = connection.explain(error)
        if stalled.is_set():
            message = f"{entry.host} took nothing more for {STALLED:g} s"
        raise StageError(f"the clients' machine: {message}") from None
    finally:
        has_ended.set()
        connection.close()


def _answer(listener: socket.socket, token: str, echo: dict[str, Any]) -> None:
    """Answer who has the token; what cannot be measured is missing."""
    listener.settimeout(ANSWER)
    with suppress(OSError, ValueError):
        while not echo:
            peer, address = listener.accept()
            with closing(peer):
                peer.settimeout(ANSWER)
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if secrets.compare_digest(agent.receive_all(peer, len(token)), token.encode()):
                    for _ in range(agent.PINGS):
                        peer.sendall(agent.receive_all(peer, agent.PING_BYTES))
                    echo["received"] = agent.stream_from(peer)
                    agent.stream_to(peer)
                    echo["address"] = address[0]


# What is left of a step that ran there


def read_end(folder: Path) -> ClientEnd:
    try:
        return parse_record((folder / RESULT).read_bytes(), ClientEnd)
    except (OSError, ValueError):
        return ClientEnd()


def with_figures(process: ProcessEnd, end: ClientEnd) -> ProcessEnd:
    """Take time and use of the program there, in place of those of what stood for it."""
    if (program := end.program) is None:
        return process
    began, ended = (datetime.fromtimestamp(end.began + seconds, UTC) for seconds in (0, program.seconds))
    return replace(
        process,
        started=began.isoformat(),
        ended=ended.isoformat(),
        seconds=program.seconds,
        user=program.user,
        system=program.system,
        max_rss=int(program.max_rss),
    )


def usage_reader(folder: Path) -> Callable[[], Mapping[str, float] | None]:
    """Make a sensor of what the program there has used by its newest sample."""

    def read() -> Mapping[str, float] | None:
        try:
            with (folder / SAMPLES).open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
                usage = json.loads(file.read().splitlines()[-1])["process"]
                return {name: float(usage[name]) for name in ("user", "system", "faults", "threads", "rss")}
        except (OSError, ValueError, LookupError, TypeError):
            return None

    return read
