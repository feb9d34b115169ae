"""Local facts of a machine, for every spec that runs there. Never part of what a spec means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from stepgrid.language.problems.problem import Problems, SpecError

GIVEN = "STEPGRID_SITE"  # the variable that names the file; empty = there is none
DEFAULT = "site.yaml"  # in the folder that holds outputs/


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


def chosen(given: str | None) -> str | None:
    """The file that counts, absolute: the given one, else the environment's, else the default if it is there."""
    named = os.environ.get(GIVEN) if given is None else given
    if named is None and os.path.lexists(DEFAULT):
        named = DEFAULT
    return str(Path(named).absolute()) if named else None


def read(path: str, problems: Problems) -> Site:
    """What a site file says; what is wrong with it is among the problems."""
    from stepgrid.language.site import site_models

    return site_models.read(path, problems)


def of_environment() -> Site:
    """The one that this process was started with; SpecError and OSError say what is wrong with its file."""
    path = os.environ.get(GIVEN)
    if not path:
        return Site()
    status = Path(path).stat()
    return _read(path, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1)
def _read(path: str, *_: int) -> Site:
    """As the file is now."""
    problems = Problems()
    site = read(path, problems)
    if problems.errors:
        raise SpecError(problems.errors)
    return site
