"""How many loads a cell has: as many as the spec says, or as many as were asked for and measured so far. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stepgrid.language.models import Spec


class OfStore(NamedTuple):
    """Of a stage by id. A cell is known by the last stage of its first load: by its content, whatever its spec."""

    requested: Callable[[str], int]  # loads that were asked for
    measured: Callable[[str], bool]


NOTHING = OfStore(lambda node: 0, lambda node: False)


class LoadCounts(NamedTuple):
    least: int
    most: int
    store: OfStore = NOTHING
    adopts: bool = True  # a load that is measured counts, even beyond `most`

    def of(self, last: Callable[[int], str]) -> int:
        """`last`: the id of a load's last stage."""
        if self.least == self.most:
            return self.least
        loads = max(self.least, min(self.store.requested(last(0)), self.most))
        while self.adopts and self.store.measured(last(loads)):
            loads += 1
        return loads


def of_spec(spec: Spec, store: OfStore) -> LoadCounts:
    """Of a fixed number only what a claim asked for is added, to confirm it."""
    repeat = spec.repeat
    fresh = max((claim.confirm or 0 for claim in spec.claims), default=0) if repeat.until is None else 0
    return LoadCounts(repeat.fewest, repeat.highest + fresh, store, repeat.until is not None)
