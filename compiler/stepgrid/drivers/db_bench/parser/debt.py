"""What a benchmark left to compact when its step began to wait for that: level 0, as `levelstats` between them says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stepgrid.drivers.db_bench.benchmarks import DRAINING, PRINTING
from stepgrid.drivers.db_bench.parser.compaction import number

LEVELSTATS, FLUSH = "levelstats", "flush"
_BEFORE = PRINTING | {FLUSH}  # brings what is in memory to level 0, and compacts nothing
_TABLE = re.compile(r"^(Level +Files +Size\(MB\).*)\n-+\n((?: *\d+ .*\n)+)", re.MULTILINE)
_COLUMNS = {"Files": ("drain_l0_files", 1), "Size(MB)": ("drain_l0_bytes", 2**20)}


def figures(after: Sequence[str], text: str) -> dict[str, float]:
    """`after`: the benchmarks behind the measured one; `text`: what was printed behind its result."""
    if not _asked(after):
        return {}
    table = _TABLE.search(text)
    rows = (dict(zip(table[1].split(), line.split(), strict=False)) for line in table[2].splitlines()) if table else ()
    level0 = next((row for row in rows if row["Level"] == "0"), {})
    values = {name: (number(level0.get(column, "")), unit) for column, (name, unit) in _COLUMNS.items()}
    return {name: value * unit for name, (value, unit) in values.items() if value is not None}


def _asked(after: Sequence[str]) -> bool:
    """Whether it looks before the first compaction that it awaits."""
    if LEVELSTATS not in after:
        return False
    place = after.index(LEVELSTATS)
    return _BEFORE.issuperset(after[:place]) and not DRAINING.isdisjoint(after[place:])
