"""A site: facts of one machine, which are never part of what a spec means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stepgrid.model.cluster import Slurm


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
    def place(self) -> str:
        """For a sentence."""
        return self.socket or (f"{self.host}:{self.port}" if self.port else str(self.host))

    def secret(self) -> str:
        """The password as it is now; empty where none is asked for."""
        if self.password_file is None:
            return self.password or ""
        return Path(self.password_file).read_text(encoding="utf-8").rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Site:
    path: str | None = None
    data: str | None = None  # absolute
    device: str | None = None
    allow_other_hardware: bool = False
    tools: Mapping[str, str] = field(default_factory=dict)
    mirrors: Mapping[str, str] = field(default_factory=dict)
    noise: str = "leave"
    disk: int | None = None  # bytes that databases and images of a checkout may take; None: what the device has
    image_checksums: bool = False
    servers: Mapping[str, SiteServer] = field(default_factory=dict)  # that already run, by name
    slurm: Slurm | None = None
    signers: str | None = None  # absolute; the file of those whose bundles are imported, None: anybody's
    roots: Sequence[str] = ()  # absolute; folders whose files specs of other folders may read

    def tool(self, name: str) -> str:
        """The configured path, or the name itself, to be found on PATH."""
        return self.tools.get(name, name)

    def mirror(self, url: str) -> str:
        """What is used in place of a git URL: its own entry, else that of its longest beginning."""
        if url in self.mirrors:
            return self.mirrors[url]
        beginnings = [each for each in self.mirrors if each.endswith("/") and url.startswith(each)]
        longest = max(beginnings, key=len, default=None)
        return url if longest is None else f"{self.mirrors[longest].rstrip('/')}/{url.removeprefix(longest)}"
