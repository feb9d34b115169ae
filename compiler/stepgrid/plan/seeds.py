"""The seeds of a cell's steps: by repeat, what the step does, and its occurrence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from stepgrid.expand.evaluation import Segment
from stepgrid.plan import identity

Seeds: TypeAlias = tuple[int, ...]  # of the steps of a segment


class Seeding:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._known: dict[tuple[int, int, tuple[tuple[str, ...], ...]], list[Seeds]] = {}

    def of(self, segments: Sequence[Segment], load: int, run: int) -> list[Seeds]:
        """The same for all cells whose steps do the same."""
        kinds = tuple([segment.seed_keys for segment in segments])
        key = (load, run, kinds)
        if key not in self._known:
            self._known[key] = list(self._made(kinds, load, run))
        return self._known[key]

    def _made(self, kinds: Sequence[Sequence[str]], load: int, run: int) -> Iterator[Seeds]:
        done: Counter[str] = Counter()
        for position, segment in enumerate(kinds):
            seeds = []
            for what in segment:
                seeds.append(identity.seed(self._seed, load, run if position else 0, what, done[what]))
                done[what] += 1
            yield tuple(seeds)
