"""A client of a Valkey server: commands and replies over its Unix socket."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PATIENCE = 10.0  # seconds for one reply


class RefusedError(ConnectionError):
    """The server answered with an error: its sentence. `LOADING …` while it reads its files."""


class ValkeyConnection:
    def __init__(self, path: Path) -> None:
        """OSError while nobody listens."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._replies = self._socket.makefile("rb")

    def command(self, *words: str) -> Any:
        """A reply: text, a number, a list of replies or None."""
        request = [b"*%d\r\n" % len(words)]
        for word in map(str.encode, words):
            request.append(b"$%d\r\n%s\r\n" % (len(word), word))
        self._socket.sendall(b"".join(request))
        return self._reply()

    def pairs(self, *words: str) -> dict[str, str]:
        """Of a command that answers with names and values in turn."""
        reply = iter(self.command(*words))
        return dict(zip(reply, reply, strict=True))

    def query(self, text: str) -> list[Mapping[str, Any]]:
        """A command as one writes it in valkey-cli; a row for each element of the reply."""
        reply = self.command(*shlex.split(text))
        return [{"reply": each} for each in (reply if isinstance(reply, list) else [reply])]

    def close(self) -> None:
        self._replies.close()
        self._socket.close()

    def _reply(self) -> Any:
        line = self._replies.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2].decode(errors="replace")
        if kind == b"-":
            raise RefusedError(rest)
        if kind == b"*":
            return [self._reply() for _ in range(int(rest))]
        if kind == b"$":
            return self._text(int(rest))
        return int(rest) if kind == b":" else rest

    def _text(self, length: int) -> str | None:
        if length < 0:
            return None
        return self._replies.read(length + 2)[:-2].decode(errors="replace")
