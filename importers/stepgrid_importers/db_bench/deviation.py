"""FILE.sdev: below the repeats of each step their mean, their standard deviation, and that relative to the mean."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, pstdev, stdev
from typing import NamedTuple

from stepgrid_importers.db_bench.summary_file import Block, lines
from stepgrid_importers.shared import awk

SUFFIX = ".sdev"


class Spread(NamedTuple):
    mean: float
    deviation: float

    @property
    def relative(self) -> float:
        return self.deviation / self.mean if self.mean else 0.0

    def __str__(self) -> str:
        return f"mean={awk.plain(self.mean)}\tstddev={self.deviation:.1f}\tsdev/mean={self.relative:.3f}"


def repeated(blocks: Sequence[Block]) -> bool:
    """Whether the rows of each step are repeats: of one version and one commit."""
    builds = {(row.version, row.cells["githash"]) for block in blocks for row in block if row}
    return len(builds) == 1 and all(len(block) > 1 and all(block) for block in blocks)


def published(block: Block) -> Spread:
    """Of these repeats and no others: their squares are divided by their number."""
    found = _operations(block)
    return Spread(fmean(found), pstdev(found))


def clean(block: Block) -> Spread:
    """An estimate for repeats to come: divided by one less."""
    found = _operations(block)
    return Spread(fmean(found), stdev(found))


def text(blocks: Sequence[Block]) -> str:
    each = (line for block in blocks for line in (*lines(block), str(published(block)), ""))
    return "".join(f"{line}\n" for line in each)


def _operations(block: Block) -> list[float]:
    return [awk.number(row.cells["ops_sec"]) for row in block if row]
