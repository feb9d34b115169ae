"""A line per second while a step runs: what the host, its devices and the step's processes have used so far."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any, TextIO

from compiler.run import counters, devices
from compiler.run.group import Group
from compiler.run.tree import size

PERIOD = 1.0
SIZE_EVERY = 5.0  # seconds between two walks over the database's folder,
SIZE_SHARE = 500  # and at least so many times what the last walk took


class Sampler:
    """`start` with the child's pid, `stop` when it has ended and is not reaped yet; never raises into a step."""

    def __init__(self, path: Path, data: Path, device: str | None = None) -> None:
        self._path, self._data = path, data
        self._device = devices.device(data, device)
        self._devices = devices.members(self._device) if self._device else []
        self._over = threading.Event()
        self._next_size = 0.0
        self._thread: threading.Thread | None = None
        self.cpu_seconds = 0.0  # what watching has cost
        self.error: str | None = None

    def start(self, pid: int) -> None:
        self._thread = threading.Thread(target=self._run, args=(pid,), daemon=True)
        self._thread.start()

    def stop(self, _pid: int) -> None:
        self._over.set()
        if self._thread:
            self._thread.join()

    def _run(self, pid: int) -> None:
        try:
            with self._path.open("w", encoding="utf-8") as file:
                self._loop(Group(pid), file)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
        self.cpu_seconds = time.thread_time()

    def _loop(self, group: Group, file: TextIO) -> None:
        began, ticks, over = time.monotonic(), 0, False
        while True:
            _write(file, self._sample(group, over))
            if over:
                return
            ticks = max(ticks + 1, int((time.monotonic() - began) / PERIOD) + 1)
            over = self._over.wait(max(0.0, began + ticks * PERIOD - time.monotonic()))

    def _sample(self, group: Group, last: bool) -> dict[str, Any]:
        sample: dict[str, Any] = {"t": round(time.time(), 3), "monotonic": round(time.monotonic(), 4)}
        sample |= counters.host(self._device, self._devices)
        process = group.sample()
        if process:
            sample["process"] = process
        if last or time.monotonic() >= self._next_size:
            sample["database_bytes"] = self._size()
        return sample

    def _size(self) -> int:
        began = time.monotonic()
        found = size(self._data)
        took = time.monotonic() - began
        self._next_size = began + max(SIZE_EVERY, SIZE_SHARE * took)
        return found


def _write(file: TextIO, sample: dict[str, Any]) -> None:
    file.write(json.dumps(sample, separators=(",", ":")) + "\n")
    file.flush()
