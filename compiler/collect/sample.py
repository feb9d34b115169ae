"""A sample as numbers, by the sampler's names: what it lacks is NaN, what no figure is made of is skipped."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.json import Decoder

MISSING = float("nan")


class Cpu(Struct, frozen=True, gc=False):
    """Seconds; the host's time is the sum of them."""

    user: float = MISSING
    nice: float = MISSING
    system: float = MISSING
    idle: float = MISSING
    iowait: float = MISSING
    irq: float = MISSING
    softirq: float = MISSING
    steal: float = MISSING


class Memory(Struct, frozen=True, gc=False):
    free: float = MISSING
    available: float = MISSING
    buffers: float = MISSING
    cached: float = MISSING
    reclaimable: float = MISSING
    dirty: float = MISSING
    swap: float = MISSING
    swap_free: float = MISSING


class Paging(Struct, frozen=True, gc=False):
    read: float = MISSING
    written: float = MISSING
    swapped_in: float = MISSING
    swapped_out: float = MISSING


class Pressure(Struct, frozen=True, gc=False):
    cpu: float = MISSING
    io: float = MISSING
    memory: float = MISSING


class Device(Struct, frozen=True, gc=False):
    reads: float = MISSING
    read_merges: float = MISSING
    read_sectors: float = MISSING
    read_ms: float = MISSING
    writes: float = MISSING
    write_merges: float = MISSING
    write_sectors: float = MISSING
    write_ms: float = MISSING
    busy_ms: float = MISSING
    queue_ms: float = MISSING
    discards: float = MISSING
    discard_sectors: float = MISSING
    discard_ms: float = MISSING
    flushes: float = MISSING
    flush_ms: float = MISSING


class Process(Struct, frozen=True, gc=False):
    """Of a group of them."""

    user: float = MISSING
    system: float = MISSING
    rss: float = MISSING
    read_bytes: float = MISSING
    write_bytes: float = MISSING


class Sensors(Struct, frozen=True, gc=False):
    mhz: float = MISSING
    celsius: float = MISSING
    throttles: float = MISSING


class Sample(Struct, frozen=True, gc=False):
    monotonic: float
    interrupts: float = MISSING
    switches: float = MISSING
    running: float = MISSING
    blocked: float = MISSING
    database_bytes: float = MISSING
    cpu: Cpu | None = None
    memory: Memory | None = None
    paging: Paging | None = None
    pressure: Pressure | None = None
    process: Process | None = None
    server: Process | None = None
    sensors: Sensors | None = None
    devices: dict[str, Device] = {}
    device: str | None = None  # which of them holds the database


PLAIN = ("monotonic", "interrupts", "switches", "running", "blocked", "database_bytes")
SECTIONS: Mapping[str, type[Struct]] = {
    "cpu": Cpu,
    "memory": Memory,
    "paging": Paging,
    "pressure": Pressure,
    "device": Device,
    "process": Process,
    "server": Process,
    "sensors": Sensors,
}

decoded = Decoder(Sample).decode_lines
