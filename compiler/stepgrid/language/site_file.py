"""The content of a site file, and what it names: folders, programs, devices, servers and nodes of a cluster."""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.validation import Duration, Label, Model, Size, validate
from stepgrid.language.yaml import Map, Text, load
from stepgrid.model.site import CLIENT_FOLDER, LEAVE, JobRequest, Site, SiteClient, SiteServer, Slurm, is_webhook

DEVICES = Path("/sys/class/block")
Bytes = Annotated[int, Field(gt=0), *Size.__metadata__]
Seconds = Annotated[float, Field(gt=0), *Duration.__metadata__]


class ServerEntry(Model):
    """A server that already runs: its socket, or its host and port; its user; the one database that is used."""

    socket: Label | None = Field(None, description="its socket; of PostgreSQL also the folder that it is in")
    host: Label | None = Field(None, description="where it listens, in place of `socket`")
    port: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        None, description="of `host`; the engine's usual one, where it is left out"
    )
    user: Label = Field(description="who asks it")
    password: Label | None = Field(None, description="better in a file of its own: `password_file`")
    password_file: Label | None = Field(None, description="a file that holds the password and nothing else")
    database: Label = Field(description="the one that is used: loads drop and make their tables in it")


class NodeRequest(Model):
    """Resources that a job asks for; what is left out is what the node has, or the cluster gives."""

    nodes: list[Label] = Field([], description="names of nodes, one each: [n1, n2]; all of the partition if left out")
    partition: Label | None = None
    constraint: Label | None = Field(None, description="features that a node must have, as sbatch takes them")
    account: Label | None = None
    qos: Label | None = None
    time_limit: Seconds | None = Field(None, description="the longest that a job may ask for, as 12h")
    cpus: Annotated[int, Field(ge=1)] | None = Field(
        None, description="of a build; a measured stage has the whole node"
    )
    memory: Bytes | None = Field(None, description="as 60GiB; of a measured stage all of the node, if left out")

    def job_request(self) -> JobRequest:
        texts = {name: _text(getattr(self, name)) for name in ("partition", "constraint", "account", "qos")}
        nodes = tuple(map(str, self.nodes))
        return JobRequest(nodes=nodes, **texts, time_limit=self.time_limit, cpus=self.cpus, memory=self.memory)


class SlurmEntry(Model):
    """Settings of `stepgrid run SPEC --on slurm`."""

    machines: dict[str, NodeRequest] = Field(description="name of `hardware` in specs, or `here` -> its nodes")
    builds: NodeRequest | None = Field(None, description="of builds, which share nodes")


class ClientEntry(Model):
    """Another machine, where the client programs of steps run: by ssh, which asks nothing."""

    host: Label = Field(description="as ssh knows it; user, port and key are in ~/.ssh/config")
    listen: Label = Field(description="the address of this machine at which servers listen for it, as 10.0.0.1")
    folder: Label | None = Field(None, description="a folder there, for programs and files of steps")


class SiteFile(Model):
    """Local facts of this machine. Paths may be relative to this file."""

    data: Label | None = Field(None, description="a folder on the device to measure: databases in use and their images")
    device: Label | None = Field(None, description="the block device below it, where that cannot be told from `data`")
    allow_other_hardware: bool = Field(False, description="run specs of other machines, under this host's own id")
    tools: dict[str, Label] = Field({}, description="programs that are not on PATH: name -> path")
    mirrors: dict[str, Label] = Field({}, description="a git URL, or a beginning ending in / -> what is used instead")
    noise: Literal["fix", "leave"] = Field(
        LEAVE, description="`fix`: settings that make noise are set while a stage is measured"
    )
    disk: Bytes | None = Field(None, description="what databases and images of a checkout may take, as 200GiB")
    image_checksums: bool = Field(False, description="record checksums of all files of an image, however large")
    servers: dict[str, ServerEntry] = Field({}, description="that already run, for builds of `source: {server: NAME}`")
    client: ClientEntry | None = Field(None, description="another machine, where the client programs of steps run")
    slurm: SlurmEntry | None = Field(None, description="nodes of a cluster, for `stepgrid run SPEC --on slurm`")
    signers: Label | None = Field(None, description="ALLOWED SIGNERS of ssh-keygen: only what they signed is imported")
    notify: Label | None = Field(None, description="the address of a webhook that has the end of a run, or its file")
    measured_by: Annotated[Label, Field(max_length=80)] | None = Field(
        None, description="a person or team, for reports: who is asked about the figures"
    )
    roots: list[Label] = Field([], description="folders whose files a spec of any folder may include or apply")


def read(path: str, problems: Problems) -> Site:
    nodes = _load(path, problems)
    entries = validate(SiteFile, nodes, problems)[0] if nodes else None
    if nodes is None or entries is None:
        return Site(path)
    check = _Check(Path(path).absolute().parent, nodes, problems)
    mounted = "is its device mounted? stepgrid does not make this folder"
    return Site(
        path=path,
        data=None if entries.data is None else check.folder(entries.data, "data", mounted),
        device=None if entries.device is None else check.device(entries.device),
        allow_other_hardware=entries.allow_other_hardware,
        tools={name: check.program(program) for name, program in entries.tools.items()},
        mirrors={check.url(url): check.mirror(mirror) for url, mirror in entries.mirrors.items()},
        noise=entries.noise,
        disk=entries.disk,
        image_checksums=entries.image_checksums,
        servers={name: check.server(name, server) for name, server in entries.servers.items()},
        client=None if entries.client is None else check.client(entries.client),
        slurm=None if entries.slurm is None else check.slurm(entries.slurm),
        notify=None if entries.notify is None else check.webhook(entries.notify),
        measured_by=_text(entries.measured_by) or "",
        signers=None if entries.signers is None else check.file(entries.signers, "signers"),
        roots=tuple(check.folder(root, "roots") for root in entries.roots),
    )


def _load(path: str, problems: Problems) -> Map | None:
    """Load a site file; an empty one, or one of comments alone, is no fault."""
    own_problems = Problems()
    nodes = load(path, own_problems, Location(path, 1, 1))
    for problem in own_problems.items:
        if problem.code != "empty-file":
            problems.append(problem)
    return nodes


class _Check(NamedTuple):
    """Compares values with what this machine has."""

    base: Path  # what relative paths are relative to
    nodes: Map
    problems: Problems

    def folder(self, name: Text, key: str, hint: str = "") -> str:
        path = self._path(name)
        if not os.path.isdir(path):  # noqa: PTH112 - unlike Path, False where a name is too long
            self._missing(name, f"`{key}`: there is no folder `{path}`", hint)
        return path

    def file(self, name: Text, key: str) -> str:
        path = self._path(name)
        if not os.path.isfile(path):  # noqa: PTH113
            self._missing(name, f"`{key}`: there is no file `{path}`")
        return path

    def program(self, name: Text) -> str:
        if "/" not in name:
            return str(name)  # another name, which is looked up on PATH
        path = self._path(name)
        if not (os.path.isfile(path) and os.access(path, os.X_OK)):  # noqa: PTH113
            self._missing(name, f"`tools`: there is no program `{path}`")
        return path

    def device(self, path: Text) -> str:
        name = Path("/dev", path).resolve().name  # also of /dev/disk/by-id/…
        names = sorted(entry.name for entry in DEVICES.iterdir()) if DEVICES.is_dir() else []
        if name not in names:
            message = f"`device`: this host has no block device `{name}`"
            self.problems.add("undefined-name", path.where, message, nearest(name, names), len(path))
        return name

    def url(self, url: str) -> str:
        if ":" not in url and not url.startswith("/"):
            message = f"`mirrors`: expected a git URL, or a beginning that ends in `/`, found `{url}`"
            self.problems.add("wrong-type", self._key_location("mirrors", url), message, width=len(url))
        return url

    def mirror(self, name: Text) -> str:
        if ":" in name:
            return str(name)
        path = self._path(name)
        if not os.path.exists(path):  # noqa: PTH110
            self._missing(name, f"`mirrors`: there is no `{path}`")
        return path

    def webhook(self, address: Text) -> str:
        """Check the address, or the file that holds it, without a word of either: who has the address can post."""
        path = self._path(address)
        if is_webhook(address) or os.path.isfile(path):  # noqa: PTH113 - a secret may be longer than a file's name
            return str(address) if is_webhook(address) else path
        message = "`notify`: expected `https://…`, or a file that holds this address and is there"
        hint = "its value is not shown: it may be a secret"
        self.problems.add("wrong-type", address.where, message, hint, len(address))
        return ""

    def server(self, name: str, entry: ServerEntry) -> SiteServer:
        where, width = self._key_location("servers", name), len(name)
        for first, second in (("socket", "host"), ("password", "password_file")):
            if getattr(entry, first) is not None and getattr(entry, second) is not None:
                message = f"`servers`: `{name}` has both `{first}` and `{second}`: keep one"
                self.problems.add("not-both", where, message, width=width)
        if entry.socket is None and entry.host is None:
            message = f"`servers`: `{name}` says neither `socket` nor `host`"
            self.problems.add("missing-key", where, message, "how is it reached?", width)
        return SiteServer(
            user=str(entry.user),
            database=str(entry.database),
            socket=None if entry.socket is None else self._path(entry.socket),
            host=_text(entry.host),
            port=entry.port,
            password=_text(entry.password),
            password_file=None if entry.password_file is None else self.file(entry.password_file, "password_file"),
        )

    def client(self, entry: ClientEntry) -> SiteClient:
        if not re.fullmatch(r"[\w.@:%]([\w.@:%-]*[\w])?", entry.host, re.ASCII):
            message = f"`host`: expected a name of one machine as ssh takes it, found `{entry.host}`"
            self.problems.add("wrong-type", entry.host.where, message, width=len(entry.host))
        try:
            listen = ip_address(entry.listen)
            is_one = not (listen.is_unspecified or listen.is_multicast)
        except ValueError:
            is_one = False
        if not is_one:
            message = f"`listen`: expected the one address of this machine that `{entry.host}` reaches, as 10.0.0.1"
            hint = f"found `{entry.listen}`; `ip address` lists those of this machine"
            self.problems.add("wrong-type", entry.listen.where, message, hint, len(entry.listen))
        folder = _text(entry.folder) or CLIENT_FOLDER
        if entry.folder and (not re.fullmatch(r"(/[\w.-]+)+", folder) or ".." in folder.split("/")):
            message = f"`folder`: expected an absolute path of letters, digits, `_`, `.` and `-`, found `{folder}`"
            self.problems.add("wrong-type", entry.folder.where, message, width=len(folder))
        return SiteClient(str(entry.host), str(entry.listen), folder)

    def slurm(self, entry: SlurmEntry) -> Slurm:
        builds = [entry.builds] if entry.builds else []
        for node in (node for request in (*entry.machines.values(), *builds) for node in request.nodes):
            if not re.fullmatch(r"[\w.-]+", node, re.ASCII):
                message = f"`nodes`: expected the name of one node, found `{node}`"
                hint = "list them: [n1, n2, n3]; `scontrol show hostnames` expands n[1-3]"
                self.problems.add("wrong-type", node.where, message, hint, len(node))
        machines = {name: request.job_request() for name, request in entry.machines.items()}
        return Slurm(machines, *(request.job_request() for request in builds))

    def _key_location(self, group: str, key: str) -> Location:
        entries = self.nodes.get(group)
        return entries.at.get(key, self.nodes.where) if isinstance(entries, Map) else self.nodes.where

    def _path(self, name: str) -> str:
        return os.path.normpath(self.base / os.path.expanduser(name))  # noqa: PTH111 - a user may have no home

    def _missing(self, name: Text, message: str, hint: str = "") -> None:
        self.problems.add("file-not-found", name.where, message, hint, len(name))


def _text(label: Label | None) -> str | None:
    return None if label is None else str(label)
