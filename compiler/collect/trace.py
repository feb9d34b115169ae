"""The samples of a step as arrays: one per counter, with NaN where a sample lacks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Sample = Mapping[str, Any]
DEVICE = "device"  # as a section: the database's own of all devices
SHORT = 0.5  # seconds: an interval below it is what is left at the end


class Trace:
    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = samples
        self._sections: dict[str, Mapping[str, Array]] = {}

    def __len__(self) -> int:
        return len(self.samples)

    @cached_property
    def times(self) -> Array:
        return self.at("monotonic")

    def at(self, *keys: str) -> Array:
        if len(keys) == 1:
            return _numbers([sample.get(keys[0]) for sample in self.samples])
        found = self.section(keys[0]).get(keys[1])
        return _nothing(len(self)) if found is None else found

    def section(self, name: str) -> Mapping[str, Array]:
        if name not in self._sections:
            rows = self._devices() if name == DEVICE else [sample.get(name) for sample in self.samples]
            self._sections[name] = _columns(rows)
        return self._sections[name]

    def _devices(self) -> list[Any]:
        """Of one device: counters of two that followed each other make no difference."""
        names = [sample.get(DEVICE) for sample in self.samples]
        name = names[-1] if names else None
        known = [sample.get("devices", {}).get(name) for sample in self.samples]
        return [row if own in (name, None) else None for row, own in zip(known, names, strict=True)]


class Pairs:
    """Two samples each: the whole intervals of a trace, and, as the last pair, its first and its last sample."""

    def __init__(self, trace: Trace) -> None:
        import numpy as np

        self.trace = trace
        passed = np.diff(trace.times) if len(trace) else _nothing(0)
        some = np.flatnonzero(passed > 0)
        whole = some[passed[some] >= SHORT]
        kept = whole if len(whole) else some  # of a step that is shorter than one, what there is
        last = len(trace) - 1
        spans = last > 0 and trace.times[last] > trace.times[0]
        self.before = np.append(kept, 0) if spans else np.empty(0, int)
        self.after = np.append(kept + 1, last) if spans else np.empty(0, int)
        self._deltas: dict[str, Mapping[str, Array]] = {}
        self.seconds: Array = trace.times[self.after] - trace.times[self.before] if spans else _nothing(0)

    def __len__(self) -> int:
        """Of the intervals."""
        return max(len(self.before) - 1, 0)

    def delta(self, *keys: str) -> Array:
        """How far a counter went; NaN where either sample lacks it, or it went back (a device that was replaced)."""
        if len(keys) == 1:
            return self._passed(self.trace.at(keys[0]))
        found = self.deltas(keys[0]).get(keys[1])
        return _nothing(len(self.seconds)) if found is None else found

    def deltas(self, section: str) -> Mapping[str, Array]:
        if section not in self._deltas:
            import numpy as np

            values = self.trace.section(section)
            passed = self._passed(np.array(list(values.values())).reshape(len(values), len(self.trace)))
            self._deltas[section] = dict(zip(values, passed, strict=True))
        return self._deltas[section]

    def _passed(self, values: Array) -> Array:
        import numpy as np

        found: Array = values[..., self.after] - values[..., self.before]
        return np.where(found >= 0, found, np.nan)


def _columns(rows: Sequence[Any]) -> Mapping[str, Array]:
    """Mostly all rows have the same names, in one order: then they are one matrix."""
    import numpy as np

    there = [index for index, row in enumerate(rows) if type(row) is dict]
    if not there:
        return {}
    names = tuple(rows[there[0]])
    if len(there) < len(rows) or any(tuple(row) != names for row in rows):
        names = tuple(dict.fromkeys(name for index in there for name in rows[index]))
        return {name: _numbers([row.get(name) if row else None for row in rows]) for name in names}
    try:
        matrix = np.array([tuple(row.values()) for row in rows], dtype=float).T
    except (TypeError, ValueError):
        return {name: _numbers([row[name] for row in rows]) for name in names}
    return dict(zip(names, matrix, strict=True))


def _numbers(values: Sequence[Any]) -> Array:
    import numpy as np

    try:
        return np.array(values, dtype=float)  # None becomes NaN
    except (TypeError, ValueError):
        return np.array([value if isinstance(value, int | float) else np.nan for value in values], dtype=float)


def _nothing(size: int) -> Array:
    import numpy as np

    return np.full(size, np.nan)
