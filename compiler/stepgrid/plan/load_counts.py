"""How many loads a cell has: as many as the spec says, or as many as were asked for and measured so far. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stepgrid.language.repeat import Repeat


class OfStore(NamedTuple):
    """Of a stage by id. A cell is known by the last stage of its first load: by its content, whatever its spec."""

    requested: Callable[[str], int]  # loads that were asked for
    measured: Callable[[str], bool]


NOTHING = OfStore(lambda node: 0, lambda node: False)


class LoadCounts(NamedTuple):
    least: int
    most: int
    store: OfStore = NOTHING

    def of(self, last: Callable[[int], str]) -> int:
        """`last`: the id of a load's last stage. A load that is measured counts, even beyond `most`."""
        if self.least == self.most:
            return self.least
        loads = max(self.least, min(self.store.requested(last(0)), self.most))
        while self.store.measured(last(loads)):
            loads += 1
        return loads


def of_spec(repeat: Repeat, store: OfStore) -> LoadCounts:
    return LoadCounts(repeat.fewest, repeat.highest, store)
