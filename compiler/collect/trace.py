"""The samples of a step as arrays: one per counter, with NaN where a sample lacks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from msgspec import Struct
    from numpy.typing import NDArray

    from compiler.collect.sample import Sample

    Array = NDArray[np.float64]
    Indices = NDArray[np.int64]

    Section = tuple[Mapping[str, int], Array]  # its counters' rows, and the matrix

DEVICE = "device"  # as a section: the database's own of all devices
SHORT = 0.5  # seconds: an interval below it is what is left at the end


class Trace:
    """`ends`: where the samples of one step end and those of the next begin; left out, they are of one."""

    def __init__(self, samples: Sequence[Sample], ends: Sequence[int] = ()) -> None:
        self.samples = samples
        ends = ends or (len(samples),)
        self.parts = [slice(begin, end) for begin, end in zip((0, *ends), ends, strict=False)]
        self._sections: dict[str, Section] = {}

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def times(self) -> Array:
        return self.at("monotonic")

    def at(self, *keys: str) -> Array:
        return _row(self.section(keys[0]) if len(keys) > 1 else self.plain, keys[-1])

    @cached_property
    def plain(self) -> Section:
        """What a sample says outside of its sections."""
        from compiler.collect.sample import PLAIN

        return _places(PLAIN), _matrix(map(attrgetter(*PLAIN), self.samples), len(self), len(PLAIN))

    def section(self, name: str) -> Section:
        if name not in self._sections:
            from compiler.collect.sample import SECTIONS

            rows = self._devices() if name == DEVICE else list(map(attrgetter(name), self.samples))
            self._sections[name] = _section(SECTIONS[name], rows)
        return self._sections[name]

    def _devices(self) -> list[Struct | None]:
        return [row for part in self.parts for row in _devices(self.samples[part])]


class Pairs:
    """Two samples each: of each step the whole intervals and, as its last pair, its first and its last sample."""

    def __init__(self, trace: Trace) -> None:
        import numpy as np

        self.trace = trace
        found = [_pairs(trace.times, part) for part in trace.parts]
        ends = np.cumsum([len(before) for before, _ in found]).tolist()
        self.parts = [slice(begin, end) for begin, end in zip((0, *ends), ends, strict=False)]
        self.before = np.concatenate([before for before, _ in found])
        self.after = np.concatenate([after for _, after in found])
        self.seconds: Array = trace.times[self.after] - trace.times[self.before]
        self._passed: dict[str, Array] = {}

    def delta(self, *keys: str) -> Array:
        """How far a counter went; NaN where either sample lacks it, or it went back (a device that was replaced)."""
        return _row(self.section(keys[0]) if len(keys) > 1 else self._plain, keys[-1])

    @cached_property
    def _plain(self) -> Section:
        names, values = self.trace.plain
        return names, self._between(values)

    def section(self, name: str) -> Section:
        names, values = self.trace.section(name)
        if name not in self._passed:
            self._passed[name] = self._between(values)
        return names, self._passed[name]

    def _between(self, values: Array) -> Array:
        import numpy as np

        found: Array = values[..., self.after] - values[..., self.before]
        return np.where(found >= 0, found, np.nan)


def _devices(samples: Sequence[Sample]) -> list[Struct | None]:
    """Of one device: counters of two that followed each other make no difference."""
    name = samples[-1].device if samples else None
    if name is None:
        return [None] * len(samples)
    return [sample.devices.get(name) if sample.device in (name, None) else None for sample in samples]


def _pairs(every: Array, part: slice) -> tuple[Indices, Indices]:
    import numpy as np

    times = every[part]
    if len(times) < 2 or not times[-1] > times[0]:
        return np.empty(0, int), np.empty(0, int)
    passed = np.diff(times)
    some = np.flatnonzero(passed > 0)
    whole = some[passed[some] >= SHORT]
    kept = (whole if len(whole) else some) + part.start  # of a step that is shorter than one, what there is
    return np.append(kept, part.start), np.append(kept + 1, part.stop - 1)


def column(values: Iterable[float]) -> Array:
    """One for each row of a matrix."""
    import numpy as np

    return np.array(list(values))[:, None]


def _section(kind: type[Struct], rows: Sequence[Struct | None]) -> Section:
    import numpy as np
    from msgspec.structs import astuple

    names = kind.__struct_fields__
    if not any(rows):
        return _places(names), np.full((len(names), len(rows)), np.nan)
    blank = kind()
    return _places(names), _matrix(map(astuple, [row or blank for row in rows]), len(rows), len(names))


def _row(section: Section, name: str) -> Array:
    names, values = section
    found: Array = values[names[name]]
    return found


@cache
def _places(names: tuple[str, ...]) -> Mapping[str, int]:
    return {name: place for place, name in enumerate(names)}


def _matrix(rows: Iterable[tuple[float, ...]], count: int, width: int) -> Array:
    import numpy as np

    found: Array = np.fromiter(chain.from_iterable(rows), float, count * width).reshape(count, width).T
    return found
