"""The lines of --report-interval: one per interval, with the rate of queries in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LINE = re.compile(r"^\[ (\d+)s \] thds: \d+ .*?\bqps: (\d+\.\d+) ", re.MULTILINE)


def series(text: str) -> Sequence[tuple[float, float]]:
    """(Seconds since the start, queries per second). After a warmup sysbench counts from 0 again: from there."""
    found = [(float(second), float(qps)) for second, qps in _LINE.findall(text)]
    restarts = [index for index in range(1, len(found)) if found[index][0] <= found[index - 1][0]]
    return found[restarts[-1] :] if restarts else found
