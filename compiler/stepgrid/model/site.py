"""A site: facts of one machine, which are never part of what a spec means, and the cluster that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

LEAVE: Final = "leave"  # a noisy host as it is: `noise` of a site file without a word of it
CLIENT_FOLDER = "/var/tmp/stepgrid"  # on a machine of clients
HERE = "here"  # a machine that the spec does not describe


class JobRequest(Struct, frozen=True):
    """Resources that a job asks a scheduler for. None: what the node has, or what the cluster gives."""

    nodes: Sequence[str] = ()  # names; none: all of the partition
    partition: str | None = None
    constraint: str | None = None
    account: str | None = None
    qos: str | None = None
    time_limit: float | None = None  # seconds
    cpus: int | None = None
    memory: int | None = None  # bytes


class Slurm(Struct, frozen=True):
    machines: Mapping[str, JobRequest] = {}  # by the name of the machine in specs
    builds: JobRequest = JobRequest()

    def job_request(self, machine: str, declared: bool) -> JobRequest | None:
        """Look a machine up by its id in a plan; `hardware: here` has an id that nobody writes."""
        return self.machines.get(machine) or (None if declared else self.machines.get(HERE))


@dataclass(frozen=True, slots=True)
class SiteServer:
    """A server that already runs, and how it is reached: by a socket, or by host and port."""

    user: str
    database: str  # the only one that is used
    socket: str | None = None  # absolute
    host: str | None = None
    port: int | None = None  # None: the engine's usual one
    password: str | None = field(default=None, repr=False)
    password_file: str | None = None  # absolute

    @property
    def address(self) -> str:
        return self.socket or (f"{self.host}:{self.port}" if self.port else str(self.host))

    def secret(self) -> str:
        """Read the password as it is now; empty where none is asked for."""
        if self.password_file is None:
            return self.password or ""
        return Path(self.password_file).read_text(encoding="utf-8").rstrip("\r\n")


class SiteClient(Struct, frozen=True):
    """Another machine, where client programs run."""

    host: str  # as ssh knows it
    listen: str  # the address of this machine at which servers listen for it
    folder: str = CLIENT_FOLDER  # there


def is_webhook(address: str) -> bool:
    """Tell if it is an address that can be posted to: of http, with a host and without a user."""
    try:
        parts = urlsplit(address)
        is_usable = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        return False
    is_plain = address.isascii() and address.isprintable() and " " not in address
    return is_usable and is_plain and parts.scheme in ("https", "http")


class Site(Struct, frozen=True):
    path: str | None = None
    data: str | None = None  # absolute
    device: str | None = None
    allow_other_hardware: bool = False
    tools: Mapping[str, str] = {}
    mirrors: Mapping[str, str] = {}
    noise: str = LEAVE
    disk: int | None = None  # bytes that databases and images of a checkout may take; None: what the device has
    image_checksums: bool = False
    servers: Mapping[str, SiteServer] = {}  # that already run, by name
    client: SiteClient | None = None
    slurm: Slurm | None = None
    signers: str | None = None  # absolute; the file of those whose bundles are imported, None: anybody's
    notify: str | None = None  # the address of a webhook, which is a password, or the absolute path of its file
    measured_by: str = ""  # a person or team, for reports
    roots: Sequence[str] = ()  # absolute; folders whose files specs of other folders may read

    def webhook(self) -> str:
        """Read the address as it is now; empty where nobody is told."""
        if self.notify is None or is_webhook(self.notify):
            return self.notify or ""
        return Path(self.notify).read_text(encoding="utf-8").strip()

    def tool(self, name: str) -> str:
        """The configured path, or the name itself, to be looked for on PATH."""
        return self.tools.get(name, name)

    def mirror(self, url: str) -> str:
        """The URL that replaces a git URL: its own entry, else that of its longest beginning."""
        if url in self.mirrors:
            return self.mirrors[url]
        beginnings = [prefix for prefix in self.mirrors if prefix.endswith("/") and url.startswith(prefix)]
        longest = max(beginnings, key=len, default=None)
        return url if longest is None else f"{self.mirrors[longest].rstrip('/')}/{url.removeprefix(longest)}"
