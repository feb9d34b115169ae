"""A server of the site file: how one that already runs is reached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from stepgrid.language.fields import Label, Model
from stepgrid.language.problems import Location, Problems
from stepgrid.language.yaml import Text
from stepgrid.model.site import SiteServer

Port = Annotated[int, Field(ge=1, le=65535)]


class Entry(Model):
    """A server that already runs: its socket, or its host and port; who asks it; the one database that is used."""

    socket: Label | None = Field(None, description="its socket; of PostgreSQL also the folder that it is in")
    host: Label | None = Field(None, description="where it listens, in place of `socket`")
    port: Port | None = Field(None, description="of `host`; the engine's usual one, where it is left out")
    user: Label = Field(description="who asks it")
    password: Label | None = Field(None, description="better in a file of its own: `password_file`")
    password_file: Label | None = Field(None, description="a file that holds the password and nothing else")
    database: Label = Field(description="the one that is used: loads drop and make their tables in it")


def known(name: str, said: Entry, where: Location, path: Callable[[str], str], problems: Problems) -> SiteServer:
    """`where`: of its name. What it must not leave open, or say twice, is among the problems."""
    width = len(name)
    for first, second in (("socket", "host"), ("password", "password_file")):
        if getattr(said, first) is not None and getattr(said, second) is not None:
            message = f"`servers`: `{name}` has both `{first}` and `{second}`: keep one"
            problems.add("not-both", where, message, width=width)
    if said.socket is None and said.host is None:
        message = f"`servers`: `{name}` says neither `socket` nor `host`"
        problems.add("missing-key", where, message, "how is it reached?", width)
    return SiteServer(
        user=str(said.user),
        database=str(said.database),
        socket=None if said.socket is None else path(said.socket),
        host=None if said.host is None else str(said.host),
        port=said.port,
        password=None if said.password is None else str(said.password),
        password_file=_file(said.password_file, path, problems),
    )


def _file(given: Text | None, path: Callable[[str], str], problems: Problems) -> str | None:
    if given is None:
        return None
    found = path(given)
    if not Path(found).is_file():
        problems.add("file-not-found", given.where, f"`password_file`: there is no file `{found}`", width=len(given))
    return found
