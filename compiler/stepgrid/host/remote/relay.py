"""The stand-in for a program on another machine, with its output, its files and its exit status.

`python -m stepgrid.host.remote.relay REQUEST` in the step's folder; it imports little, since each step waits for it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec.structs import asdict

from stepgrid.host.remote import agent
from stepgrid.host.remote.agent import (
    BEAT,
    ERR,
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
    plain,
)
from stepgrid.host.remote.answers import ClientEnd, End, RemoteAnswer, read_answer, receive_answer

RESULT, SAMPLES = "client.json", "client-samples.jsonl"  # in the step's folder
LOST_EXIT = 70
MOST_COMPLAINT = 4096  # of what ssh prints, its last bytes
FATAL = signal.valid_signals() - {
    *(signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH),
    *(signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU),
}


class SshConnection:
    """A Python on the other machine, by ssh, that executes this module."""

    def __init__(self, argv: list[str], host: str) -> None:
        code = Path(agent.__file__).read_bytes()
        self.host, self.complaint = host, b""
        self.child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_become_ssh
        )
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        with suppress(OSError):
            self.child.stdin.write(b"%d\n%s" % (len(code), code))
        self.link = FrameLink(self.child.stdout, self.child.stdin, host)  # type: ignore[arg-type]

    def _listen(self) -> None:
        assert self.child.stderr is not None
        while part := os.read(self.child.stderr.fileno(), MOST_COMPLAINT):
            self.complaint = (self.complaint + part)[-MOST_COMPLAINT:]

    def explain(self, error: Exception) -> str:
        """Say what the program there said last, else what ssh has printed last, where it has ended."""
        if isinstance(error, BrokenPipeError):
            error = self._last_word()
        if isinstance(error, AnswerError):
            return plain(str(error))
        text = str(error) if isinstance(error, LostError) else f"{self.host}: {error}"
        with suppress(subprocess.TimeoutExpired):
            status = self.child.wait(1)
            self._listener.join(1)
            lines = self.complaint.decode(errors="replace").strip().splitlines()
            if status < 0:
                return f"{text}: ssh was killed by {signal.Signals(-status).name}"
            return plain(f"{text}: {lines[-1].strip()}") if lines else text
        self.child.kill()  # a thread may wait until it has taken what is sent
        return text

    def _last_word(self) -> LostError:
        """Return what was said before the pipe broke."""
        with suppress(subprocess.TimeoutExpired):
            self.child.wait(1)
        self.child.kill()
        try:
            while True:
                receive_answer(self.link)
        except LostError as error:
            return error

    def close(self) -> None:
        """End the program there; it removes its folder before ssh ends."""
        with suppress(OSError):
            self.child.stdin.close()  # type: ignore[union-attr]
        try:
            self.child.wait(BEAT)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self._listener.join(1)


def _become_ssh() -> None:
    os.setpgid(0, 0)  # a signal for the group is ours to pass on
    follow_parent(signal.SIGKILL)


def relay(path: str) -> int:
    """Run the program of a request; return its exit status, or minus the number of the signal that killed it."""
    request = json.loads(Path(path).read_text(encoding="utf-8"))
    Path(path).unlink()
    connection = SshConnection(request.pop("ssh"), request.pop("host"))
    stop = partial(threading.Thread, target=connection.link.send, args=(STOP,), daemon=True)
    signal.signal(signal.SIGTERM, lambda *_: stop().start())
    reserved = {*request.pop("reserved"), *request["files"]}
    try:
        connection.link.send_json(action="run", **request)
        if not receive_answer(connection.link, 2 * SILENCE).ready:
            raise LostError(f"{connection.host} sent something else than an answer")
        connection.link.beat()
        os.kill(os.getpid(), signal.SIGSTOP)  # until everything here is ready: see launch.check_launch
        began = time.time()
        connection.link.send_json(go=True)
        result = _Receiver(connection.link, reserved).receive()
        if result.seconds > time.time() - began + 1 or (result.exit < 0 and -result.exit not in FATAL):
            raise AnswerError(f"{connection.host} sent an end that cannot be: {result}")
    except (LostError, OSError, ValueError) as error:
        message = connection.explain(error)
        print(message, file=sys.stderr)
        _write_end(ClientEnd(message))
        return LOST_EXIT
    finally:
        connection.close()
    _write_end(ClientEnd(began=began, program=result))
    return result.exit


def _write_end(end: ClientEnd) -> None:
    with Path(RESULT).open("xb") as file:
        file.write(msgspec.json.encode(end))


class _Receiver:
    """Files that come back, in the current folder. The other machine is trusted as little as the program."""

    def __init__(self, link: FrameLink, reserved: set[str]) -> None:
        self._link, self._reserved = link, reserved | {RESULT, SAMPLES}
        self._file: BinaryIO | None = None
        self._files = self._bytes = 0

    def receive(self) -> End:
        with Path(SAMPLES).open("x", encoding="utf-8") as samples:
            while True:
                kind, payload = self._link.receive()
                self._bytes += len(payload)
                if self._bytes > MOST_BYTES + (MOST_BYTES >> 4):  # names and samples count as well
                    raise AnswerError("more bytes came back than a step may write")
                if kind == FILE and self._file:
                    self._file.write(payload)
                elif kind in (OUT, ERR):
                    os.write(1 if kind == OUT else 2, payload)
                elif kind == JSON and (end := self._take(read_answer(self._link.peer, payload), samples)):
                    return end

    def _take(self, answer: RemoteAnswer, samples: Any) -> End | None:
        if answer.sample:
            sample = {**asdict(answer.sample), "process": asdict(answer.sample.process)}
            samples.write(json.dumps({"t": time.time(), **sample}) + "\n")
            samples.flush()
        elif answer.file is not None:
            self._open(answer.file)
        elif answer.end and self._file:
            self._file.close()
        return answer.end

    def _open(self, name: str) -> None:
        """Open a new file; refuse a name that leads elsewhere, or to a file of stepgrid's."""
        self._files += 1
        parts = name.split("/")
        if {"", ".", ".."} & {*parts} or parts[0] in self._reserved or len(parts) > 20 or not name.isprintable():
            raise AnswerError(f"a file came back whose name is refused: {name[:100]!a}")
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
