"""Samples as numbers, by the sampler's names: what one lacks is NaN, what no figure is made of is skipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import Decoder
from msgspec.structs import astuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

DEVICE = "device"  # as a section: the database's own of all devices
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
    t: float = MISSING
    interrupts: float = MISSING
    switches: float = MISSING
    running: float = MISSING
    blocked: float = MISSING
    database_bytes: float = MISSING
    cpu: Cpu = Cpu()
    memory: Memory = Memory()
    paging: Paging = Paging()
    pressure: Pressure = Pressure()
    process: Process = Process()
    server: Process = Process()
    sensors: Sensors = Sensors()
    devices: dict[str, Device] = {}
    device: str | None = None  # which of them holds the database


decoded = Decoder(Sample).decode_lines

_blank = Sample(MISSING)
_said = {name: getattr(_blank, name) for name in Sample.__struct_fields__}
_PLAIN = [name for name, value in _said.items() if isinstance(value, float)]
_WITHIN = {name: type(value) for name, value in _said.items() if isinstance(value, Struct)}
SECTIONS: Mapping[str, type[Struct]] = {**_WITHIN, DEVICE: Device}
_KEYS = ((section, name) for section, kind in SECTIONS.items() for name in kind.__struct_fields__)
PLACES: Mapping[tuple[str, ...], int] = {
    key: place for place, key in enumerate([*((name,) for name in _PLAIN), *_KEYS])
}

_plain, _sections, _none = attrgetter(*_PLAIN), attrgetter(*_WITHIN), Device()


def span(section: str) -> slice:
    """The columns of a section."""
    names = SECTIONS[section].__struct_fields__
    first = PLACES[section, names[0]]
    return slice(first, first + len(names))


def numbers(samples: Sequence[Sample]) -> Array:
    """A row for each sample, and a column for each of PLACES."""
    import numpy as np

    if not samples:
        return np.empty((0, len(PLACES)))
    records = map(astuple, chain.from_iterable(map(_sections, samples)))
    parts = (map(_plain, samples), records, map(astuple, _devices(samples)))
    arrays = [np.fromiter(chain.from_iterable(part), float).reshape(len(samples), -1) for part in parts]
    return np.concatenate(arrays, axis=1)


def _devices(samples: Sequence[Sample]) -> Iterator[Device]:
    """Of one device: counters of two that followed each other make no difference."""
    name = samples[-1].device
    if name is None:
        return repeat(_none, len(samples))
    return (each.devices.get(name, _none) if each.device in (name, None) else _none for each in samples)
