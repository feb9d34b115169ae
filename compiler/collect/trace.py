"""The samples of a step as arrays: one per counter, with NaN where a sample lacks it."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Indices = NDArray[np.int64]

    Section = tuple[Mapping[str, int], Array]  # its counters' rows, and the matrix

Sample = Mapping[str, Any]
DEVICE = "device"  # as a section: the database's own of all devices
SHORT = 0.5  # seconds: an interval below it is what is left at the end


class Trace:
    """`ends`: where the samples of one step end and those of the next begin; left out, they are of one."""

    def __init__(self, samples: Sequence[Sample], ends: Sequence[int] = ()) -> None:
        self.samples = samples
        ends = ends or (len(samples),)
        self.parts = [slice(begin, end) for begin, end in zip((0, *ends), ends, strict=False)]
        self._sections: dict[str, Section] = {}
        self._plain: dict[str, Array] = {}

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def times(self) -> Array:
        return self.at("monotonic")

    def at(self, *keys: str) -> Array:
        if len(keys) == 1:
            return self._at(keys[0])
        names, values = self.section(keys[0])
        return values[names[keys[1]]] if keys[1] in names else _nothing(len(self))

    def _at(self, name: str) -> Array:
        if name not in self._plain:
            self._plain[name] = _numbers([sample.get(name) for sample in self.samples])
        return self._plain[name]

    def section(self, name: str) -> Section:
        if name not in self._sections:
            rows = self._devices() if name == DEVICE else [sample.get(name) for sample in self.samples]
            self._sections[name] = _section(rows)
        return self._sections[name]

    def _devices(self) -> list[Any]:
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
        if len(keys) == 1:
            return self._between(self.trace.at(keys[0]))
        names, passed = self.section(keys[0])
        return passed[names[keys[1]]] if keys[1] in names else _nothing(len(self.seconds))

    def section(self, name: str) -> Section:
        names, values = self.trace.section(name)
        if name not in self._passed:
            self._passed[name] = self._between(values)
        return names, self._passed[name]

    def _between(self, values: Array) -> Array:
        import numpy as np

        found: Array = values[..., self.after] - values[..., self.before]
        return np.where(found >= 0, found, np.nan)


def _devices(samples: Sequence[Sample]) -> list[Any]:
    """Of one device: counters of two that followed each other make no difference."""
    names = [sample.get(DEVICE) for sample in samples]
    name = names[-1] if names else None
    known = [sample.get("devices", {}).get(name) for sample in samples]
    return [row if own in (name, None) else None for row, own in zip(known, names, strict=True)]


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


def _section(rows: Sequence[Any]) -> Section:
    """Mostly all rows have the same names: then they are one matrix."""
    import numpy as np

    there = [row for row in rows if type(row) is dict]
    if not there:
        return {}, np.empty((0, len(rows)))
    names = tuple(there[0])
    if len(there) == len(rows) and (whole := _matrix(rows, names)) is not None:
        return _places(names), whole
    names = tuple(dict.fromkeys(name for row in there for name in row))
    found = [_numbers([row.get(name) if row else None for row in rows]) for name in names]
    return _places(names), np.array(found).reshape(len(names), len(rows))


def _places(names: Sequence[str]) -> Mapping[str, int]:
    return {name: place for place, name in enumerate(names)}


def _matrix(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Array | None:
    """None where some row has other names, or a value that is no number."""
    import numpy as np

    if len(names) < 2 or {*map(len, rows)} != {len(names)}:
        return None
    try:
        values = chain.from_iterable(map(itemgetter(*names), rows))
        packed = struct.pack(f"{len(rows) * len(names)}d", *values)  # half of what numpy takes for it
        return np.frombuffer(packed).reshape(len(rows), len(names)).T
    except (KeyError, struct.error):
        return None


def _numbers(values: Sequence[Any]) -> Array:
    import numpy as np

    try:
        return np.array(values, dtype=float)  # None becomes NaN
    except (TypeError, ValueError):
        return np.array([value if isinstance(value, int | float) else np.nan for value in values], dtype=float)


def _nothing(size: int) -> Array:
    import numpy as np

    return np.full(size, np.nan)
