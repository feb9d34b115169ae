"""Every option of a build, from a server that is started for the question: `CONFIG GET *` lists them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from stepgrid.plugins.engine import IdentityError, OptionInfo, Run, last_lines
from stepgrid_valkey.connection import ValkeyConnection

PATIENCE, PAUSE = 60.0, 0.05  # seconds


def catalogue(run: Run) -> Mapping[str, OptionInfo]:
    """`run` returns when the server has ended, so a second thread asks it, and tells it to end."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
        path = Path(folder) / "s"
        settings = pool.submit(_asked, path)
        words = ("--port", "0", "--unixsocket", str(path), "--dir", folder, "--save", "")
        stdout, stderr = run("valkey-server", words)
        try:
            return {name: _info(name, value) for name, value in sorted(settings.result().items())}
        except OSError as error:
            raise IdentityError(
                f"valkey-server did not list its options; it said: {last_lines(stdout + stderr)}"
            ) from error


def _asked(path: Path) -> dict[str, str]:
    connection = _connected(path)
    try:
        return connection.pairs("CONFIG", "GET", "*")
    finally:
        with suppress(ConnectionError):  # it closes the connection instead of an answer
            connection.command("SHUTDOWN", "NOSAVE")


def _connected(path: Path) -> ValkeyConnection:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return ValkeyConnection(path)
        except OSError:
            if time.monotonic() > end:
                raise
        time.sleep(PAUSE)


def _info(name: str, value: str) -> OptionInfo:
    """The server says no types: that of its value."""
    if value in ("yes", "no"):
        return OptionInfo(name, "bool", value, "")
    return OptionInfo(name, "number" if value.lstrip("-").isdecimal() else "string", value, "")
