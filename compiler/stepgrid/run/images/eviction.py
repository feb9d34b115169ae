"""Which images go when a stage needs room: those that were not used for longest, and no more than it takes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from stepgrid.store.images import Blocks, File, Image


@dataclass(frozen=True, slots=True)
class Candidate:
    image: Image
    needed: bool  # a planned stage of this run starts from it still


def order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """First those that this run has no use for; among them the one whose last use is longest ago."""
    return sorted(candidates, key=lambda each: (each.needed, each.image.used, each.image.stage))


def chosen(candidates: Iterable[Candidate], wanted: int) -> list[Candidate] | None:
    """What to remove, in order, so that this many bytes are free; None when not even all of them would do."""
    taken: list[Candidate] = []
    left = order(candidates)
    while freed(taken) < wanted:
        if not left:
            return None
        taken.append(left.pop(0))
    return _fewest(taken, wanted)


def freed(candidates: Collection[Candidate]) -> int:
    """Bytes of files all of whose names go: a file that something else has a link to stays."""
    names: Counter[File] = Counter()
    blocks: dict[File, Blocks] = {}
    for candidate in candidates:
        for file, each in candidate.image.files.items():
            names[file] += each.names
            blocks[file] = each
    return sum(each.bytes for file, each in blocks.items() if names[file] >= each.links)


def _fewest(taken: Sequence[Candidate], wanted: int) -> list[Candidate]:
    """Without those that make no difference: the last used are spared first."""
    left = list(taken)
    for candidate in reversed(taken):
        without = [each for each in left if each is not candidate]
        if freed(without) >= wanted:
            left = without
    return left
