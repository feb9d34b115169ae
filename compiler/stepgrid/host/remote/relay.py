"""What is supervised in place of a program on another machine: it has its output, its files and its exit status.

`python -m stepgrid.host.remote.relay REQUEST` in the step's folder; it imports little, since each step waits for it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from stepgrid.host.remote import agent
from stepgrid.host.remote.agent import (
    BEAT,
    ERR,
    FIGURES,
    FILE,
    JSON,
    MOST_BYTES,
    MOST_FILES,
    OUT,
    SILENCE,
    STOP,
    AnswerError,
    FrameLink,
    LostError,
    follow_parent,
)

RESULT, SAMPLES = "client.json", "client-samples.jsonl"  # in the step's folder
LOST_EXIT = 70


class SshConnection:
    """A Python on the other machine, by ssh, that executes this module."""

    def __init__(self, argv: list[str], host: str) -> None:
        code = Path(agent.__file__).read_bytes()
        self.host, self._stderr = host, tempfile.TemporaryFile()  # noqa: SIM115
        self.child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, preexec_fn=_become_ssh
        )
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        with suppress(OSError):
            self.child.stdin.write(b"%d\n%s" % (len(code), code))
        self.link = FrameLink(self.child.stdout, self.child.stdin, host)  # type: ignore[arg-type]

    def explain(self, error: LostError) -> str:
        """Say what ssh has printed last, where it has ended."""
        if isinstance(error, AnswerError):
            return str(error)
        with suppress(subprocess.TimeoutExpired):
            status = self.child.wait(1)
            self._stderr.seek(0)
            lines = self._stderr.read(1 << 16).decode(errors="replace").strip().splitlines()
            if status < 0:
                return f"{error}: ssh was killed by {signal.Signals(-status).name}"
            return f"{error}: {lines[-1].strip()}" if lines else str(error)
        self.child.kill()  # a thread may wait until it has taken what is sent
        return str(error)

    def close(self) -> None:
        """End the program there; it removes its folder before ssh ends."""
        with suppress(OSError):
            self.child.stdin.close()  # type: ignore[union-attr]
        try:
            self.child.wait(BEAT)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self._stderr.close()


def _become_ssh() -> None:
    os.setpgid(0, 0)  # a signal for the group is ours to pass on
    follow_parent(signal.SIGKILL)


def relay(path: str) -> int:
    """Run the program of a request; return its exit status, or minus the number of the signal that killed it."""
    request = json.loads(Path(path).read_text(encoding="utf-8"))
    Path(path).unlink()
    connection = SshConnection(request.pop("ssh"), request.pop("host"))
    signal.signal(signal.SIGTERM, lambda *_: _ask_to_stop(connection))
    reserved = {*request.pop("reserved"), *request["files"]}
    try:
        connection.link.send_json(action="run", **request)
        if connection.link.receive_json(2 * SILENCE) != {"ready": True}:
            raise LostError(f"{connection.host} sent something else than an answer")
        connection.link.beat()
        os.kill(os.getpid(), signal.SIGSTOP)  # until everything here is ready: see launch.check_launch
        began = time.time()
        connection.link.send_json(go=True)
        result = _Receiver(connection.link, reserved).receive()
    except (LostError, OSError, ValueError, KeyError) as error:
        message = connection.explain(
            error if isinstance(error, LostError) else LostError(f"{connection.host}: {error}")
        )
        print(message, file=sys.stderr)
        _write_json({"lost": message})
        return LOST_EXIT
    finally:
        connection.close()
    _write_json({"began": began, **result})
    return int(result["exit"])


def _ask_to_stop(connection: SshConnection) -> None:
    threading.Thread(target=connection.link.send, args=(STOP,), daemon=True).start()


def _write_json(values: dict[str, Any]) -> None:
    with Path(RESULT).open("x", encoding="utf-8") as file:
        json.dump(values, file)


class _Receiver:
    """Files that come back, in the current folder. The other machine is trusted as little as the program."""

    def __init__(self, link: FrameLink, reserved: set[str]) -> None:
        self._link, self._reserved = link, reserved | {RESULT, SAMPLES}
        self._file: BinaryIO | None = None
        self._files = self._bytes = 0

    def receive(self) -> dict[str, float]:
        with Path(SAMPLES).open("x", encoding="utf-8") as samples:
            while True:
                kind, payload = self._link.receive()
                self._bytes += len(payload)
                if self._bytes > 2 * MOST_BYTES:
                    raise AnswerError("more bytes came back than a step may write")
                if kind == FILE and self._file:
                    self._file.write(payload)
                elif kind in (OUT, ERR):
                    os.write(1 if kind == OUT else 2, payload)
                elif kind == JSON and (result := self._read_json(json.loads(payload), samples)):
                    return result

    def _read_json(self, values: Any, samples: Any) -> dict[str, float] | None:
        if not isinstance(values, dict):
            raise AnswerError("something else than an answer came back")
        if isinstance(message := values.get("error"), str):
            raise AnswerError(f"{self._link.peer}: {message}")
        if isinstance(sample := values.get("sample"), dict):
            samples.write(json.dumps({"t": time.time(), **sample}) + "\n")
            samples.flush()
        elif "file" in values:
            self._open(values["file"])
        elif "exit" in values:
            if self._file:
                self._file.close()
            return {name: float(values[name]) for name in FIGURES}
        return None

    def _open(self, name: Any) -> None:
        """Open a new file; refuse a name that leads elsewhere, or to a file of stepgrid's."""
        self._files += 1
        parts = name.split("/") if isinstance(name, str) else [""]
        if "\0" in str(name) or {"", ".", ".."} & {*parts} or parts[0] in self._reserved or len(parts) > 20:
            raise AnswerError(f"a file came back whose name is refused: {str(name)[:100]!r}")
        if self._files > MOST_FILES:
            raise AnswerError("more files came back than a step may make")
        if self._file:
            self._file.close()
        Path(*parts).parent.mkdir(parents=True, exist_ok=True)
        self._file = Path(*parts).open("xb")  # noqa: SIM115


def main() -> None:
    status = relay(sys.argv[1])
    if status < 0:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        signal.signal(-status, signal.SIG_DFL) if -status not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    main()
