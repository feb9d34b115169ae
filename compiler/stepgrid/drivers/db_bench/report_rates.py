"""The report file counts the operations of an interval, and calls that interval_qps whatever its seconds."""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub

Rows = Sequence[tuple[float, float]]  # second at the end of an interval, operations in it


def per_second(rows: Rows, start: float | None = 0.0) -> list[tuple[float, float]]:
    """`start`: when the first interval began, if that is known.

    Seconds are rounded, so that one may seem to be two: the interval is what most of them are.
    """
    ends = [*(() if start is None else (start,)), *(second for second, _ in rows)]
    passed = sorted(map(sub, ends[1:], ends))
    usual = passed[len(passed) // 2] if passed else 1.0
    if usual == 1.0 or usual <= 0:
        return list(rows)
    return [(second, operations / usual) for second, operations in rows]
