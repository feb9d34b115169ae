"""When within a step its benchmark ran, and what came after: no output says it, but how long the database was open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from stepgrid.drivers.db_bench.benchmarks import DRAINING, PRINTING
from stepgrid.drivers.db_bench.parser.dump.compaction import number
from stepgrid.host import file_reader

STATS = "stats"  # prints how long the database has been open
UPTIME, SECONDS = "uptime_seconds", "seconds"


def drain(benchmarks: Sequence[str], measured: str, metrics: Mapping[str, float]) -> dict[str, float]:
    """Seconds of flushes and compactions between the end of the benchmark and the statistics."""
    after = _after(benchmarks, measured)
    drained = [index for index, name in enumerate(after or ()) if name in DRAINING]
    if after is None or not drained or STATS not in after[drained[-1] :] or not {UPTIME, SECONDS} <= metrics.keys():
        return {}
    return {"drain_seconds": max(0.0, metrics[UPTIME] - metrics[SECONDS])}


def left(benchmarks: Sequence[str], measured: str, text: str) -> dict[str, float]:
    """The debt when that began; `text`: what was printed behind the result."""
    return figures(_after(benchmarks, measured) or (), text)


def stalled(metrics: Mapping[str, float]) -> dict[str, float]:
    """Nobody writes while a step drains: of all the time that the database is open the share would be too small."""
    if not {"drain_seconds", "stall_seconds", "stall_pct", SECONDS} <= metrics.keys() or not metrics[SECONDS]:
        return {}
    share = 100 * metrics["stall_seconds"] / metrics[SECONDS]
    return {"stall_pct": share, "stall_pct_published": metrics["stall_pct"]}


def window(
    folder: Path, benchmarks: Sequence[str], measured: str, metrics: Mapping[str, float]
) -> tuple[float, float] | None:
    """Seconds since the command's start. What is not open time, before the statistics at the end, is opening it.

    Without them nobody knows how long that took: where the step drains, it is less than the drain; else it is all.
    """
    after = _after(benchmarks, measured)
    if after is None or SECONDS not in metrics:
        return None
    wall = _wall(folder)
    if wall is not None and UPTIME in metrics and benchmarks[-1] == STATS:
        opening = max(0.0, wall - metrics[UPTIME])
        return opening, opening + metrics[SECONDS]
    return (0.0, metrics[SECONDS]) if DRAINING & {*after} else None


def _after(benchmarks: Sequence[str], measured: str) -> Sequence[str] | None:
    """What follows the benchmark; None where it was not the first to do something, or not the only one."""
    first = benchmarks.index(measured)
    before, after = benchmarks[:first], benchmarks[first + 1 :]
    known = all(name in PRINTING for name in before) and all(name in PRINTING | DRAINING for name in after)
    return after if known else None


def _wall(folder: Path) -> float | None:
    """Of a step that has ended."""
    found = file_reader.read(f"{folder}/step.json").get("seconds")
    return float(found) if isinstance(found, int | float) else None


# What a benchmark left to compact when its step began to wait for that: level 0, as `levelstats` between them says.

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
