"""How a step asks a server: a program of ours, told what to do by a file that only its owner may read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stepgrid.model.command import Command
from stepgrid.model.package_data import PACKAGE
from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access

FILE = "request.json"


def command(module: str, context: Context, request: Mapping[str, Any], duration: float | None = None) -> Command:
    """`python -m MODULE` in the step's folder. ValueError where no server was started."""
    if context.server is None:
        raise ValueError("it needs a server, and the engine of this build is none")
    return program(module, context, request, duration)


def program(module: str, context: Context, request: Mapping[str, Any], duration: float | None = None) -> Command:
    """The same, which can do without a server."""
    access = context.server._asdict() if context.server else None
    text = json.dumps({"access": access, **request}, default=str, indent=1)
    return Command((sys.executable, "-m", module), {"PYTHONPATH": _paths()}, duration, {FILE: f"{text}\n"})


def _paths() -> str:
    """Where this program is, and what it was started with: little else of our environment reaches a step."""
    return os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH"))))


def taken(folder: Path) -> dict[str, Any]:
    """What is kept of it has no password."""
    path = folder / FILE
    request: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if (access := request["access"]) is not None and access["password"]:
        kept = {**request, "access": {**access, "password": ""}}
        path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return request


def forget_password(folder: Path) -> None:
    """Of a request that nobody came to read."""
    with suppress(OSError, ValueError, KeyError):
        taken(folder)


def asked(folder: Path) -> tuple[Access | None, dict[str, Any]]:
    """What that program finds there."""
    request = taken(folder)
    if (given := request.pop("access")) is None:
        return None, request
    return Access(**{**given, "sockets": Path(given["sockets"]), "socket": Path(given["socket"])}), request


def last_complaint(folder: Path, beginning: str) -> str | None:
    """Why that program failed, in the sentence that it writes to stderr; the last time that it was said."""
    try:
        lines = (folder / "stderr").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((line for line in reversed(lines) if line.startswith(beginning)), None)
