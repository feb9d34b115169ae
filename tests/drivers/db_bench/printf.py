"""What db_bench prints, made of values as its printf does: with the columns of any release, and with unknown ones."""

# ruff: noqa: UP031 - the formats are those of printf

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

KB, MB, GB = 2.0**10, 2.0**20, 2.0**30

# columns of the compaction table: how each is printed, and what one of it is
FORMATS: Mapping[str, tuple[str, float]] = {
    "Score": ("%5.1f", 1),
    "Read(GB)": ("%8.1f", GB),
    "Rn(GB)": ("%7.1f", GB),
    "Rnp1(GB)": ("%8.1f", GB),
    "Write(GB)": ("%9.1f", GB),
    "WPreComp(GB)": ("%9.1f", GB),
    "Wnew(GB)": ("%8.1f", GB),
    "Moved(GB)": ("%9.1f", GB),
    "W-Amp": ("%5.1f", 1),
    "Rd(MB/s)": ("%8.1f", 1),
    "Wr(MB/s)": ("%8.1f", 1),
    "Comp(sec)": ("%9.2f", 1),
    "CompMergeCPU(sec)": ("%17.2f", 1),
    "Comp(cnt)": ("%9d", 1),
    "Avg(sec)": ("%8.3f", 1),
    "Stall(cnt)": ("%10d", 1),
    "KeyIn": ("%7s", 1),
    "KeyDrop": ("%6s", 1),
    "Rblob(GB)": ("%9.1f", GB),
    "Wblob(GB)": ("%9.1f", GB),
}
HUMAN = ("KeyIn", "KeyDrop")
SUFFIXES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
STALLS = {  # since 8.1, and before
    "cf-l0-file-count-limit-delays-with-ongoing-compaction": "level0_slowdown_with_compaction",
    "cf-l0-file-count-limit-stops-with-ongoing-compaction": "level0_numfiles_with_compaction",
    "l0-file-count-limit-delays": "level0_slowdown",
    "l0-file-count-limit-stops": "level0_numfiles",
    "memtable-limit-delays": "memtable_slowdown",
    "memtable-limit-stops": "memtable_compaction",
    "pending-compaction-bytes-delays": "slowdown for pending_compaction_bytes",
    "pending-compaction-bytes-stops": "stop for pending_compaction_bytes",
}


class Row(NamedTuple):
    name: str
    files: int
    compacting: int
    size: float
    cells: Mapping[str, float]


def human(number: int) -> str:
    """As RocksDB shortens counts."""
    for limit, suffix in ((10**4, ""), (10**7, "K"), (10**10, "M")):
        if abs(number) < limit:
            return f"{int(number / SUFFIXES[suffix])}{suffix}"
    return f"{number // 10**9}G"


def shortened(number: int) -> int:
    """What is left of a count once it is printed."""
    text = human(number)
    suffix = text[-1] if text[-1] in SUFFIXES else ""
    return int(text.removesuffix(suffix)) * SUFFIXES[suffix]


def size(found: float) -> str:
    power, unit = 0, found / KB
    while power < 3 and unit >= 1024:
        power, unit = power + 1, unit / 1024
    return "%.2f %s" % (unit, ("KB", "MB", "GB", "TB")[power])


def cell(column: str, value: float) -> str:
    form, unit = FORMATS.get(column, ("%6.2f", 1))
    return form % (human(int(value)) if column in HUMAN else value / unit)


def printed(column: str, value: float) -> float:
    """The value that a reader finds."""
    unit = FORMATS[column][1]
    return float(shortened(int(value))) if column in HUMAN else float(cell(column, value)) * unit


def table(rows: Sequence[Row], columns: Sequence[str], group: str = "Level", family: str = "default") -> str:
    """`Size(MB)` among the columns: as before 5.1."""
    old = "Size(MB)" in columns
    rest = [column for column in columns if column != "Size(MB)"]
    head = f"{group}    Files   {'Size(MB)' if old else 'Size  '}   {' '.join(rest)}"
    lines = [f"** Compaction Stats [{family}] **", head, "-" * len(head)]
    for row in rows:
        how_large = "%8.2f" % (row.size / MB) if old else "%10s" % size(row.size)
        first = "%4s %6d/%-3d %s" % (row.name, row.files, row.compacting, how_large)
        lines.append(" ".join([first, *(cell(column, row.cells[column]) for column in rest)]))
    return "\n".join(lines) + "\n\n"


class Totals(NamedTuple):
    """Bytes, since the database was opened and since the last dump."""

    uptime: float
    interval: float
    ingest: float
    recent: float
    flush: float
    write: float
    read: float
    keys: int


def dump(found: Totals) -> str:
    up = f"Uptime(secs): {found.uptime:.1f} total, {found.interval:.1f} interval\n"
    writes = "{0} writes, {0} keys, {0} commit groups, 1.0 writes per commit group, ingest:".format(human(found.keys))
    log = f"{human(found.keys)} writes, 0 syncs, {found.keys:.2f} writes per sync, written:"
    return (
        f"{up}Flush(GB): cumulative {found.flush / GB:.3f}, interval 0.001\n"
        "AddFile(GB): cumulative 0.000, interval 0.000\n"
        f"Cumulative compaction: {found.write / GB:.2f} GB write, {found.write / MB / found.uptime:.2f} MB/s write, "
        f"{found.read / GB:.2f} GB read, {found.read / MB / found.uptime:.2f} MB/s read, 1.2 seconds\n"
        "Interval compaction: 9.00 GB write, 9.00 MB/s write, 9.00 GB read, 9.00 MB/s read, 9.0 seconds\n"
        f"\n** DB Stats **\n{up}"
        f"Cumulative writes: {writes} {found.ingest / GB:.2f} GB, {found.ingest / MB / found.uptime:.2f} MB/s\n"
        f"Cumulative WAL: {log} {found.ingest / GB:.2f} GB, {found.ingest / MB / found.uptime:.2f} MB/s\n"
        f"Interval writes: {writes} {found.recent / MB:.2f} MB, {found.recent / MB / found.interval:.2f} MB/s\n"
        f"Interval WAL: {log} {found.recent / GB:.2f} GB, {found.recent / MB / found.interval:.2f} MB/s\n"
    )


def tickers(counts: Mapping[str, int]) -> str:
    return "STATISTICS:\n" + "".join(f"{name} COUNT : {count}\n" for name, count in counts.items())


def stalls(counts: Mapping[str, int], old: bool) -> str:
    """`counts`: by the names since 8.1."""
    if old:
        parts = ", ".join(f"{count} {STALLS[name]}" for name, count in counts.items())
        return f"Stalls(count): {parts}, interval 3 total count\n"
    totals = {
        f"total-{what}": sum(count for name, count in counts.items() if name.endswith(what) and name[:3] != "cf-")
        for what in ("delays", "stops")
    }
    return f"Write Stall (count): {', '.join(f'{name}: {count}' for name, count in {**counts, **totals}.items())}\n"


class Line(NamedTuple):
    name: str
    usec: float
    qps: int
    seconds: float
    operations: int
    rate: float | None  # MB/s
    message: str = ""


def result(line: Line, old: bool) -> str:
    """`old`: before 7.3."""
    since = "" if old else " %.3f seconds %d operations" % (line.seconds, line.operations)
    parts = ([] if line.rate is None else ["%6.1f MB/s" % line.rate]) + ([line.message] if line.message else [])
    extra = "".join(f" {part}" for part in parts)
    return "%-12s : %11.3f micros/op %d ops/sec%s;%s\n" % (line.name, line.usec, line.qps, since, extra)


def histogram(operation: str, buckets: Sequence[tuple[int, int, int]], old: bool) -> str:
    """`old`: before 5.0 a bucket had its lower limit and not its upper one."""
    count = sum(each for _, _, each in buckets)
    before, after = ("[", ")") if old else ("(", "]")
    lines = [
        "%s %7d, %7d %s %8d %7.3f%% %7.3f%% #" % (before, low, high, after, each, 100 * each / count, 100)
        for low, high, each in buckets
    ]
    return (
        f"Microseconds per {operation}:\nCount: {count} Average: 3.5000  StdDev: 1.00\n"
        "Min: 1  Median: 3.0000  Max: 99\n"
        "Percentiles: P50: 3.00 P75: 4.00 P99: 9.00 P99.9: 20.50 P99.99: 99.00\n"
        f"{'-' * 54}\n" + "\n".join(lines) + "\n\n"
    )
