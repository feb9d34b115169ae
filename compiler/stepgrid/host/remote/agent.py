"""Programs, facts and the network of another machine: the text of this module is sent there and executed.

Its Python is 3.9 or newer, and has the standard library alone. An end that hears nothing of the other one for SILENCE
seconds takes it for lost: then the program is killed, and its folder removed.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import platform
import queue
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from contextlib import suppress
from typing import Any, BinaryIO, Iterator, NoReturn

SILENCE, BEAT, LOOK = 15.0, 3.0, 0.5  # seconds: after which an end is lost; between two signs of life; between looks
MOST_FRAME = 1 << 20
MOST_FILES, MOST_BYTES = 10_000, 4 << 30  # that a step may leave there; its output counts
PINGS, PING_BYTES, STREAM_SECONDS = 200, 16, 0.5
MARK = "STEPGRID_CLIENT"  # in the environment of what runs there: its step's folder
OURS = "stepgrid-clients"  # a file in the folder that we have made
STEP, PARTIAL = "step-", ".copy-"  # folders of steps and of programs that are being copied begin so
JSON, OUT, ERR, FILE, ARCHIVE, ALIVE, STOP = b"J", b"O", b"E", b"F", b"A", b"B", b"S"  # kinds of frames
KINDS = b"JOEFABS"


class LostError(Exception):
    """A sentence that says which end was lost, and how."""


class AnswerError(LostError):
    """A fault that one of the ends has told of, over a connection that works."""


class FrameLink:
    """Frames over two pipes: a kind, a length, and as many bytes."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, peer: str) -> None:
        self.peer, self._source, self._sink, self._lock = peer, source, sink, threading.Lock()
        self._frames: queue.Queue[tuple[bytes, bytes] | None] = queue.Queue(64)
        self._noise = b""  # that came in place of a frame
        self.is_sending, self.sent = False, time.monotonic()  # whether the pipe is to take something, and since when
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        with self._lock:
            self.is_sending, self.sent = True, time.monotonic()
            self._sink.write(kind + len(payload).to_bytes(4, "big") + payload)
            self._sink.flush()
            self.is_sending = False

    def send_json(self, **values: Any) -> None:
        self.send(JSON, json.dumps(values).encode())

    def receive(self, seconds: float = SILENCE) -> tuple[bytes, bytes]:
        """Return the next frame but signs of life; LostError: none came, of whichever kind."""
        while True:
            try:
                frame = self._frames.get(timeout=seconds)
            except queue.Empty:
                raise LostError(f"nothing came from {self.peer} for {seconds:g} s") from None
            if frame is None and self._noise:
                text = plain(self._noise.decode(errors="replace").strip())[:60]
                raise AnswerError(f"{self.peer} printed {text!r} in place of an answer: its shell must print nothing")
            if frame is None:
                raise LostError(f"the connection to {self.peer} was lost")
            if frame[0] != ALIVE:
                return frame

    def receive_json(self, seconds: float = SILENCE) -> dict[str, Any]:
        kind, payload = self.receive(seconds)
        values = json.loads(payload) if kind == JSON else None
        if not isinstance(values, dict):
            raise LostError(f"{self.peer} sent something else than an answer")
        return values

    def beat(self) -> None:
        """Send signs of life from now on."""

        def run() -> None:
            with suppress(OSError, ValueError):
                while True:
                    self.send(ALIVE)
                    time.sleep(BEAT)

        threading.Thread(target=run, daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while len(head := self._source.read(5)) == 5:
                size = int.from_bytes(head[1:], "big")
                if head[:1] not in KINDS or size > MOST_FRAME:
                    self._noise = head + self._source.read1(200)  # type: ignore[attr-defined]
                    break
                payload = self._source.read(size)
                if len(payload) < size:
                    break
                self._frames.put((head[:1], payload))
        self._frames.put(None)


def plain(text: str) -> str:
    """Cut text short, and replace what does not print."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:300])


def follow_parent(number: int) -> None:
    """Get this signal when the parent dies."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, number)


class ArchiveStream:
    """A file to write to or to read from whose bytes are frames."""

    def __init__(self, link: FrameLink) -> None:
        self._link, self._rest, self._has_ended = link, b"", False

    def write(self, data: bytes) -> int:
        for start in range(0, len(data), MOST_FRAME):
            self._link.send(ARCHIVE, data[start : start + MOST_FRAME])
        return len(data)

    def read(self, size: int) -> bytes:
        while len(self._rest) < size and not self._has_ended:
            kind, payload = self._link.receive()
            self._has_ended = kind != ARCHIVE or not payload
            self._rest += payload
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def drain(self) -> None:
        while not self._has_ended:
            self._rest = b""
            self.read(1)


# There: facts, the network, programs


def serve() -> NoReturn:
    """Do what one request asks for, in a child. Whichever of the two processes is killed, the other one clears up."""
    source, sink = os.pipe()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    worker = os.fork()
    if worker:
        os.close(sink)
        status = os.waitpid(worker, 0)[1]
        for folder in os.read(source, 1 << 16).decode().splitlines():
            _clear(folder)
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            payload = json.dumps({"error": f"stepgrid's program there was killed by {name}"}).encode()
            with suppress(OSError):
                os.write(1, JSON + len(payload).to_bytes(4, "big") + payload)
        os._exit(0)
    os.close(source)
    link = FrameLink(sys.stdin.buffer, sys.stdout.buffer, "stepgrid's machine")
    with suppress(LostError, OSError):
        try:
            _answer(link, link.receive_json(), sink)
        except OSError as error:
            link.send_json(error=": ".join(filter(None, (error.strerror, str(error.filename or "")))) or str(error))
        except (ValueError, KeyError, RecursionError, tarfile.TarError) as error:
            link.send_json(error=str(error))
    os._exit(0)


def _answer(link: FrameLink, request: dict[str, Any], sink: int) -> None:
    root = _own_folder(request["folder"])
    if request["action"] == "run":
        _run(link, request, root, sink)
    elif request["action"] == "provide":
        _provide(link, root, request["keys"], sink)
    else:
        link.send_json(facts=_facts(), network=_measure_network(request["address"], request["token"]))


def _own_folder(path: str) -> str:
    """Make the folder, for us alone; refuse one that somebody else may change, or that holds something else."""
    parent = path
    while parent != "/":
        parent = os.path.dirname(parent)
        for name in {parent, os.path.realpath(parent)}:
            if os.path.exists(name) and not _is_safe_parent(os.stat(name)):
                raise ValueError(f"others may replace {path}: they may write to {name}")
    os.makedirs(path, 0o700, exist_ok=True)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise ValueError(f"{path} must be a folder of the user {os.geteuid()}, and nobody else may write to it")
    if (names := os.listdir(path)) and OURS not in names:
        raise ValueError(
            f"{path} holds files that are not stepgrid's: `client: folder` must be a new or an empty folder"
        )
    os.close(os.open(os.path.join(path, OURS), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    for name in ("programs", "steps"):
        os.makedirs(os.path.join(path, name), 0o700, exist_ok=True)
    return os.path.realpath(path)


def _is_safe_parent(status: os.stat_result) -> bool:
    return status.st_uid in (0, os.geteuid()) and (not status.st_mode & 0o022 or bool(status.st_mode & stat.S_ISVTX))


def _facts() -> dict[str, Any]:
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        lines = [line.partition(":")[2].strip() for line in file if line.startswith(("model name", "CPU part"))]
    return {
        "hostname": platform.node(),
        "cpu": lines[0] if lines else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
    }


def _measure_network(address: list[Any], token: str) -> dict[str, Any]:
    """Measure round trips, and bytes per second from the listener, which measures the other way."""
    times: list[float] = []
    with socket.create_connection((str(address[0]), int(address[1])), 10) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.sendall(token.encode())
        for _ in range(PINGS):
            began = time.perf_counter()
            peer.sendall(b"p" * PING_BYTES)
            if len(receive_all(peer, PING_BYTES)) < PING_BYTES:
                raise ValueError("the connection that measures the network was lost")
            times.append(time.perf_counter() - began)
        stream_to(peer)
        received = stream_from(peer)
    times.sort()
    middle, late = times[len(times) // 2], times[len(times) * 99 // 100]
    return {"rtt_us": middle * 1e6, "rtt_p99_us": late * 1e6, "received": received}


def receive_all(peer: socket.socket, size: int) -> bytes:
    """Receive so many bytes; fewer if the other end closes."""
    data = b""
    while len(data) < size and (part := peer.recv(size - len(data))):
        data += part
    return data


def stream_to(peer: socket.socket) -> None:
    """Send for a while; the other end measures, and answers when it has the last byte."""
    data, end = b"\0" * 65536, time.monotonic() + STREAM_SECONDS
    while time.monotonic() < end:
        peer.sendall(data)
    peer.sendall(b"\1")
    receive_all(peer, 1)


def stream_from(peer: socket.socket) -> float:
    """Receive until the last byte; return bytes per second."""
    size, began, part = 0, 0.0, b""
    while not part.endswith(b"\1"):
        part = peer.recv(1 << 20)
        if not part:
            raise ValueError("the connection that measures the network was lost")
        began = began or time.perf_counter()
        size += len(part)
    peer.sendall(b"\1")
    return size / max(1e-6, time.perf_counter() - began)


def _provide(link: FrameLink, folder: str, keys: list[str], sink: int) -> None:
    """Ask for the programs that are not there, and unpack them."""
    programs = os.path.join(folder, "programs")
    missing = [key for key in keys if not os.path.isdir(os.path.join(programs, key))]
    link.send_json(missing=missing)
    for key in missing:
        partial, lock = _locked_folder(programs, PARTIAL, sink)
        try:
            stream = ArchiveStream(link)
            with tarfile.open(fileobj=stream, mode="r|") as archive:  # type: ignore[call-overload]
                if hasattr(tarfile, "fully_trusted_filter"):  # who sends it may run programs here
                    archive.extraction_filter = tarfile.fully_trusted_filter
                archive.extractall(partial)
            stream.drain()
            os.rename(partial, os.path.join(programs, key))
        except OSError:
            if not os.path.isdir(os.path.join(programs, key)):  # of another run meanwhile
                raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            os.close(lock)
    link.send_json(provided=len(missing))


# There: a step


def _run(link: FrameLink, request: dict[str, Any], root: str, sink: int) -> None:
    _sweep(os.path.join(root, "steps"), STEP)
    _sweep(os.path.join(root, "programs"), PARTIAL)
    watcher = os.getppid()
    folder, _ = _locked_folder(os.path.join(root, "steps"), STEP, sink)
    signal.signal(signal.SIGUSR1, lambda *_: _abandon(folder))
    follow_parent(signal.SIGUSR1)
    try:
        _RemoteStep(link, root, folder, watcher).run(request)
    finally:
        _clear(folder)


def _locked_folder(parent: str, prefix: str, sink: int) -> tuple[str, int]:
    """Make a folder that is ours as long as the descriptor is open; the watcher is told of it."""
    folder = tempfile.mkdtemp(prefix=prefix, dir=parent)
    lock = os.open(folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.write(sink, f"{folder}\n".encode())
    return folder, lock


def _abandon(folder: str) -> NoReturn:
    _clear(folder)
    os._exit(1)


def _sweep(folder: str, prefix: str) -> None:
    """Clear up after what was killed with both its processes: nobody holds the locks."""
    for entry in os.scandir(folder):
        if not entry.name.startswith(prefix):
            continue
        with suppress(OSError):
            descriptor = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if time.time() - entry.stat().st_mtime > SILENCE:  # of somebody who is about to lock it: not yet
                    _clear(entry.path)
            finally:
                os.close(descriptor)


def _clear(folder: str) -> None:
    mark = f"{MARK}={folder}".encode()
    for _ in range(100):
        pids = [pid for pid in _pids() if mark in _read(f"/proc/{pid}/environ").split(b"\0")]
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not pids:
            break
        time.sleep(0.02)
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.isdir(folder):  # a step has closed a folder, or made too many in each other
        _open_up(folder)
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)


def _open_up(folder: str) -> None:
    """Let us read all that is there."""
    subprocess.run(["chmod", "-R", "u+rwX", "--", folder], stderr=subprocess.DEVNULL, check=False)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


class _RemoteStep:
    def __init__(self, link: FrameLink, root: str, folder: str, watcher: int) -> None:
        self._link, self._root, self._folder, self._watcher = link, root, folder, watcher
        self._sent = dict.fromkeys(("stdout", "stderr"), 0)
        self._output: dict[str, int] = {}  # descriptors: a program may replace the files
        self._bytes = 0
        self._group, self._end = 0, threading.Event()
        self._usage: Any = None

    def run(self, request: dict[str, Any]) -> None:
        sent_files = {*request["files"], *self._sent}
        for name, text in request["files"].items():
            descriptor = os.open(os.path.join(self._folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
        paths = {local: os.path.join(self._root, "programs", key) for local, key in request["programs"].items()}
        paths[request["step"]] = self._folder
        missing = [path for path in request.get("here", ()) if not os.path.lexists(path)]
        argv = [translate(word, paths) for word in request["argv"]]
        env = {name: translate(value, paths) for name, value in request["env"].items()}
        env |= {"HOME": self._folder, "TMPDIR": self._folder, MARK: self._folder}
        self._link.send_json(ready=True)
        if self._link.receive_json(4 * SILENCE) != {"go": True}:
            return
        self._link.beat()
        self._start(argv, env)
        self._watch()
        self._send_output(all_of_it=True)
        self._send_files(sent_files)
        self._link.send_json(end={**self._usage, "missing": missing})
        with suppress(LostError):
            self._link.receive()  # the other end has it all, and closes the connection

    def _start(self, argv: list[str], env: dict[str, str]) -> None:
        before, began = _counters(), time.monotonic()
        for name in self._sent:
            self._output[name] = os.open(os.path.join(self._folder, name), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            child = subprocess.Popen(
                argv, cwd=self._folder, env=env, stdin=subprocess.DEVNULL, stdout=self._output["stdout"],
                stderr=self._output["stderr"], start_new_session=True, preexec_fn=_become_program,
            )  # fmt: skip
        except OSError as error:
            self._link.send_json(error=f"the program {argv[0]} cannot be started there: {error.strerror}")
            raise LostError from None
        self._group = child.pid

        def wait() -> None:
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.monotonic() - began
            grown = {name: value - before[name] for name, value in _counters().items()}
            self._usage = {
                "exit": -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status),
                "seconds": seconds,
                "user": usage.ru_utime,
                "system": usage.ru_stime,
                "max_rss": usage.ru_maxrss * 1024,
                "cpu_pct": min(100, max(0, 100 * grown["busy"] / max(1e-6, grown["busy"] + grown["idle"]))),
                "network_bytes_per_s": max(0, grown["received"], grown["sent"]) / max(1e-6, seconds),
            }
            self._end.set()

        threading.Thread(target=wait, daemon=True).start()

    def _watch(self) -> None:
        """Pass output and samples on until the program has ended, or nobody listens any more."""

        def listen() -> None:
            try:
                while True:
                    if self._link.receive()[0] == STOP:
                        with suppress(OSError):
                            os.killpg(self._group, signal.SIGTERM)
            except LostError:
                _abandon(self._folder)

        threading.Thread(target=listen, daemon=True).start()
        looks = 0
        while not self._end.wait(LOOK):
            if os.getppid() != self._watcher:
                _abandon(self._folder)
            self._send_output()
            if looks % 2 == 0:
                self._link.send_json(sample={**_counters(), "process": _usage_of_session(self._group)})
            looks += 1
        with suppress(OSError):
            os.killpg(self._group, signal.SIGKILL)  # what it has left behind

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > MOST_BYTES:
            self._link.send_json(error=f"the step wrote more than {MOST_BYTES >> 30} GiB there")
            _abandon(self._folder)

    def _send_output(self, all_of_it: bool = False) -> None:
        for name, kind in (("stdout", OUT), ("stderr", ERR)):
            while part := os.pread(self._output[name], MOST_FRAME, self._sent[name]):
                self._count(len(part))
                self._sent[name] += len(part)
                self._link.send(kind, part)
                if not all_of_it:
                    break

    def _send_files(self, sent_files: set[str]) -> None:
        """Send the regular files that the step has left in its folder."""
        _open_up(self._folder)
        count = 0
        for path in _paths(self._folder):
            name = os.path.relpath(path, self._folder)
            if name in sent_files or not stat.S_ISREG(os.lstat(path).st_mode):
                continue
            count += 1
            if count > MOST_FILES or not name.isprintable():
                many = f"more than {MOST_FILES} files" if count > MOST_FILES else f"a file with an odd name: {name!a}"
                self._link.send_json(error=f"the step made {many}")
                raise LostError
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    continue
                self._link.send_json(file=name)
                while part := file.read(MOST_FRAME):
                    self._count(len(part))
                    self._link.send(FILE, part)


def _paths(folder: str) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        yield from (os.path.join(parent, name) for name in sorted(names))


def _become_program() -> None:
    follow_parent(signal.SIGKILL)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def translate(text: str, paths: dict[str, str]) -> str:
    """Replace paths and what is below them; not those that only begin or end alike, such as /data/xy for /data/x."""
    names = "|".join(re.escape(local) for local in sorted(paths, key=len, reverse=True))
    letters = r"""[^\s:;,="'()<>|&]*"""
    pattern = rf"(?P<local>{names})(?![\w.+@%~-])(?P<below>{letters})|/{letters}"
    return re.sub(pattern, lambda match: paths[match["local"]] + match["below"] if match["local"] else match[0], text)


def _counters() -> dict[str, float]:
    """Sum up ticks of all processors, and bytes of all network devices, without the loopback if there is another."""
    ticks = [float(word) for word in _read("/proc/stat").split(b"\n", 1)[0].split()[1:9]]
    rows = [line.replace(b":", b" ").split() for line in _read("/proc/net/dev").splitlines()[2:]]
    rows = [row for row in rows if row[0] != b"lo" and float(row[1])] or rows
    return {
        "busy": sum(ticks) - ticks[3] - ticks[4],
        "idle": ticks[3] + ticks[4],
        "received": sum(float(row[1]) for row in rows),
        "sent": sum(float(row[9]) for row in rows),
    }


def _usage_of_session(session: int) -> dict[str, float]:
    usage = dict.fromkeys(("user", "system", "faults", "threads", "rss"), 0.0)
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGESIZE")
    for pid in _pids():
        fields = _read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()
        if len(fields) > 21 and int(fields[3]) == session:
            usage["user"] += (int(fields[11]) + int(fields[13])) / tick
            usage["system"] += (int(fields[12]) + int(fields[14])) / tick
            usage["faults"] += sum(int(field) for field in fields[7:11])
            usage["threads"] += int(fields[17])
            usage["rss"] += int(fields[21]) * page
    return usage
