"""Speed of this host itself: fsync, memory and clock, measured once a day beside what is compared between hosts.

Two seconds in a process of its own, before a stage begins. The figures lie beside the host lock, by volume of data.
"""

from __future__ import annotations

import json
import mmap
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stepgrid.host import disk, sysfs
from stepgrid.host.counters import CPUS, Sensors
from stepgrid.host.files import load_record, write_json
from stepgrid.host.tuning import BOOT
from stepgrid.model.records import SpeedRecord
from stepgrid.package import INTERPRETER

FSYNC, MEMORY, CLOCK = "fsync_us", "memory_gib_per_s", "clock_mhz"
SPEEDS = {FSYNC: ("fsync", "µs"), MEMORY: ("memory copy", "GiB/s"), CLOCK: ("clock", "MHz")}  # their words and units
AT, DAY = "at", 86400.0  # when it was measured
TIMEOUT = 30.0
PART = 0.4  # seconds of each measurement, at most
BLOCK, FILE = 4096, 1 << 20  # bytes that are written at a time, and of the file
LEAST_BUFFER, PIECE = 256 << 20, 4 << 20


def host_speed(data: Path, lock: Path) -> dict[str, float]:
    """Read the figures of the last day, or measure them. The host lock is held alone."""
    if (speed := recorded_speed(data, lock)) is not None:
        return speed
    speed, path = _measure(disk.existing(data)), speed_path(lock)
    volumes = {**_read_volumes(path), _volume(data): {**speed, AT: time.time()}}
    with suppress(OSError):  # of a folder that may not be written: the next stage measures again
        write_json(path, SpeedRecord(sysfs.text(BOOT), volumes), durable=False)
    return speed


def recorded_speed(data: Path, lock: Path) -> dict[str, float] | None:
    """Read the figures of the last day; None: they are to be measured."""
    speed = dict(_read_volumes(speed_path(lock)).get(_volume(data), {}))
    is_fresh = 0 <= time.time() - speed.pop(AT, 0.0) < DAY
    return speed if is_fresh else None


def _volume(data: Path) -> str:
    return mount.point if (mount := disk.mount(data)) else str(data)


def speed_path(lock: Path) -> Path:
    """Name a file of each user: in the lock's folder nobody may replace that of another."""
    return lock.with_name(f"{lock.name}.speed.{os.getuid()}.json")


def _read_volumes(path: Path) -> Mapping[str, Mapping[str, float]]:
    """Read the figures by volume; none before a new start, which may have changed kernel and firmware."""
    try:
        record = load_record(path, SpeedRecord) if path.lstat().st_uid == os.getuid() else SpeedRecord()
    except (OSError, ValueError):
        return {}
    return record.volumes if record.boot == sysfs.text(BOOT) else {}


def _measure(folder: Path) -> dict[str, float]:
    argv = [*INTERPRETER, "stepgrid.host.speed", str(folder)]
    try:
        process = subprocess.run(argv, capture_output=True, timeout=TIMEOUT, check=True)
        return {name: float(value) for name, value in json.loads(process.stdout).items()}
    except (OSError, subprocess.SubprocessError, ValueError):  # no figure is no reason for a stage to fail
        return {}


# Measurements, in the process of their own


def fsync_us(folder: Path) -> float:
    """Median time to overwrite a block of a file and have it on the device."""
    import tempfile

    times: list[float] = []
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:  # without a name, which a kill would leave behind
        file.write(bytes(FILE))
        os.fsync(file.fileno())
        end = time.perf_counter() + PART
        while time.perf_counter() < end or len(times) < 3:
            start = time.perf_counter()
            os.pwrite(file.fileno(), os.urandom(BLOCK), len(times) * BLOCK % FILE)
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - start)
    return 1e6 * _median(times)


def memory_gib_per_s(processors: int) -> float:
    """Bytes that all processors together copy per second, between buffers that no cache holds."""
    import numpy

    size = min(max(LEAST_BUFFER, _cache_bytes()), (sysfs.memory("MemAvailable") or 0) // 16 or LEAST_BUFFER)
    pieces = max(size // processors // PIECE, 1)

    def buffer() -> Any:
        memory = mmap.mmap(-1, pieces * PIECE)
        memory.madvise(mmap.MADV_HUGEPAGE)  # else the kernel takes a second to find the pages
        bytes_of_pieces = numpy.frombuffer(memory, numpy.uint8).reshape(pieces, PIECE)
        bytes_of_pieces.fill(1)
        return bytes_of_pieces

    def prepare() -> Callable[[int], None]:
        source, target = buffer(), buffer()
        return lambda turn: numpy.copyto(target[turn % pieces], source[turn % pieces])

    return processors * PIECE / _turn_seconds(processors, prepare) / 2**30


def _cache_bytes() -> int:
    """Sum the last-level caches: processors that share one name it alike."""
    sizes = {}
    for folder in sysfs.matching(f"{CPUS}/cpu[0-9]*/cache/index3"):
        kib = re.fullmatch(r"(\d+)K", sysfs.text(f"{folder}/size") or "")
        sizes[sysfs.text(f"{folder}/shared_cpu_list")] = int(kib[1]) << 10 if kib else 0
    return sum(sizes.values())


# 64 times `add eax, eax`, each of which waits for the one before and takes one cycle; then `dec rdi`, `jnz`, `ret`
CHAIN = 64
LOOP = b"\x01\xc0" * CHAIN + b"\x48\xff\xcf"
CODE = LOOP + b"\x0f\x85" + (-len(LOOP) - 6).to_bytes(4, "little", signed=True) + b"\xc3"
TURNS = 250_000  # some milliseconds


def clock_mhz(processors: int) -> float | None:
    """Cycles per second while all processors count; elsewhere than on x86-64 what the sensors say."""
    if platform.machine() != "x86_64":
        return Sensors().read().get("mhz")
    import ctypes

    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(CODE)
    count = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    return CHAIN * TURNS / _turn_seconds(processors, lambda: lambda _: count(TURNS)) / 1e6


def _turn_seconds(processors: int, prepare: Callable[[], Callable[[int], None]]) -> float:
    """Median CPU time of a turn while all processors take turns, so that waiting for a processor does not count.

    What takes turns lets other threads of Python run meanwhile.
    """

    def measure(_: int) -> float:
        take_turn, times = prepare(), list[float]()
        end = time.perf_counter() + PART
        while not times or time.perf_counter() < end:
            start = time.thread_time()
            take_turn(len(times))
            times.append(time.thread_time() - start)
        return _median(times)

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(processors) as pool:
        return _median(pool.map(measure, range(processors)))


def _median(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def main(folder: str) -> None:
    processors, figures = len(os.sched_getaffinity(0)), dict[str, float | None]()
    measurements: Mapping[str, Callable[[], float | None]] = {
        FSYNC: lambda: fsync_us(Path(folder)),
        MEMORY: lambda: memory_gib_per_s(processors),
        CLOCK: lambda: clock_mhz(processors),
    }
    for name, measure in measurements.items():
        with suppress(OSError, MemoryError):  # a disk that is full, or a system that runs no code of ours
            figures[name] = measure()
    print(json.dumps({name: float(f"{value:.4g}") for name, value in figures.items() if value}))


if __name__ == "__main__":
    main(sys.argv[1])
