"""A line per second while a step runs: what the host, its devices and the step's processes have used so far."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from stepgrid.host import devices
from stepgrid.host.file_tree import size
from stepgrid.host.sampling import counters
from stepgrid.host.sampling.process_group import OpenFiles, ProcessGroup
from stepgrid.host.sampling.sensors import Sensors

PERIOD = 1.0
EVERY = 5.0  # seconds between two walks over the database's folder, and between two looks at the sensors


class Sampler:
    """`start` with the child's pid, `stop` when it has ended and is not reaped yet; never raises into a step.

    `server`: the process group of the engine, where the child is only its client. `data`: the database, where it is
    one of ours.
    """

    def __init__(self, path: Path, data: Path | None, device: str | None = None, server: int | None = None) -> None:
        self._data, self._server = data, server
        self._device = devices.device(data or path, device) if data or device else None
        self._devices = devices.members(self._device) if self._device else []
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.cpu_seconds = 0.0  # what watching has cost
        self.error: str | None = None
        self.open_files: OpenFiles | None = None  # of the child's group
        self._file: TextIO | None = None
        try:
            self._file = path.open("x", encoding="utf-8")  # before the program starts, which could put a link there
        except OSError as error:
            self.error = f"{type(error).__name__}: {error}"

    def start(self, pid: int) -> None:
        if self._file:
            self._thread = threading.Thread(target=self._run, args=(pid, self._file), daemon=True)
            self._thread.start()

    def stop(self, _pid: int) -> None:
        self._over.set()
        if self._thread:
            self._thread.join()

    def close(self) -> None:
        """Call it where `start` may not have been."""
        if self._file:
            self._file.close()

    def _run(self, pid: int, file: TextIO) -> None:
        try:
            with file:
                self._loop(self._parts(pid), file)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
        self.cpu_seconds = time.thread_time()

    def _parts(self, pid: int) -> list[ThrottledSensor]:
        """What is not looked at in every sample; what is first is of the very beginning."""
        group = ProcessGroup(pid)
        self.open_files = OpenFiles(group)
        parts = [ThrottledSensor("process", group.sample), ThrottledSensor("open files", self.open_files.look)]
        if self._server is not None:
            parts.append(ThrottledSensor("server", ProcessGroup(self._server).sample))
        sensors = Sensors()
        return [
            *parts,
            *(
                [ThrottledSensor("database_bytes", partial(size, self._data), EVERY, 500, time.monotonic)]
                if self._data
                else []
            ),
            ThrottledSensor("sensors", sensors.read, EVERY),
        ]

    def _loop(self, parts: list[ThrottledSensor], file: TextIO) -> None:
        began, ticks, over = time.monotonic(), 0, False
        while True:
            _write(file, self._sample(parts, over))
            if over:
                return
            ticks = max(ticks + 1, int((time.monotonic() - began) / PERIOD) + 1)
            over = self._over.wait(max(0.0, began + ticks * PERIOD - time.monotonic()))

    def _sample(self, parts: list[ThrottledSensor], last: bool) -> dict[str, Any]:
        sample: dict[str, Any] = {"t": round(time.time(), 3), "monotonic": round(time.monotonic(), 4)}
        sample |= counters.host(self._device, self._devices)
        for part in parts:
            if last or part.is_due:
                found = part.look()
                if found is not None:
                    sample[part.name] = found
        return sample


def _write(file: TextIO, sample: dict[str, Any]) -> None:
    file.write(json.dumps(sample, separators=(",", ":")) + "\n")
    file.flush()


# How often something is looked at: the dearer it is, the less often.

SHARE = 300  # times what the last look took: how long it is left alone at least
EARLY = 0.05  # seconds: what is due with the next tick may not miss it by a hair


class ThrottledSensor:
    """`clock`: by which a look is dear; what waits for a disk is so without using a processor."""

    def __init__(
        self,
        name: str,
        look: Callable[[], Any],
        least: float = 0.0,
        share: int = SHARE,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.name, self._look, self._least, self._share, self._clock = name, look, least, share, clock
        self._next = 0.0

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._next

    def look(self) -> Any:
        """None where nothing was found."""
        began, cost = time.monotonic(), self._clock()
        found = self._look()
        self._next = began + max(self._least, self._share * (self._clock() - cost)) - EARLY
        return None if found == {} else found
