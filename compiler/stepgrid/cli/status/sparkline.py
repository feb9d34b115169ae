"""A series as one line of blocks, from zero to its largest value, so that a stall is a gap; the newest at the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

BLOCKS, PLAIN = "▁▂▃▄▅▆▇█", "_.-:=+*#"


class Spark(NamedTuple):
    text: str
    least: float
    most: float
    used: int  # values that it shows


def spark(values: Sequence[float], width: int, blocks: str = BLOCKS) -> Spark | None:
    """Where there are more values than columns, each column is the mean of as many."""
    each = max(1, -(-len(values) // max(width, 1)))
    used = len(values) - len(values) % each if len(values) > each else len(values)
    newest = values[len(values) - used :]
    if not newest or width < 1:
        return None
    means = [sum(newest[at : at + each]) / len(newest[at : at + each]) for at in range(0, used, each)]
    most = max(newest)
    return Spark("".join(_block(mean, max(means), blocks) for mean in means), min(newest), most, used)


def _block(value: float, most: float, blocks: str) -> str:
    if most <= 0 or value <= 0:
        return blocks[0] if most <= 0 else " "
    return blocks[min(int(value / most * len(blocks)), len(blocks) - 1)]
