"""RocksDB's own statistics in an output: the compaction table, the totals of its dump, stalls, memory and counters.

A run prints them several times; the last ones count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from stepgrid_databases.drivers.db_bench.output import STATISTICS, read_statistics

MB, GB = 2**20, 2**30

Row: TypeAlias = Mapping[str, str]  # column -> text


def engine_figures(text: str) -> dict[str, float]:
    return {
        **compaction_figures(text),
        **total_figures(text),
        **stall_figures(text),
        **block_cache_figures(text),
        **memory_figures(text),
    }


def engine_counters(text: str) -> dict[str, float]:
    return {**memory_properties(text), **statistics_counters(text)}


# The compaction table is read by its header: releases add columns (10.3: WPreComp) and sites patch in more.

DEFAULT_FAMILY = "default"  # the column family that always exists

_TITLE = re.compile(r"\n\*\* Compaction Stats \[(.*)\] \*\*")
_COUNT = re.compile(r"(\d+)([KMGT]?)")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_SIZE_GAP = re.compile(r" (?<=\d )(?=[KMGT]?B\b)")  # between a size and its unit; a literal first is found fast
_SUFFIXES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS = {"B": 1, "KB": 2**10, "MB": MB, "GB": GB, "TB": 2**40}
_LEVEL_NAME, _ANY_NAME = re.compile(r"L\d+|Sum|Int"), re.compile(".*")


@lru_cache(maxsize=4096)  # most cells of most tables are 0.0
def read_number(text: str) -> float | None:
    """Read a number; the new bytes of a level may be less than nothing."""
    match = _NUMBER.fullmatch(text)
    return float(match[0]) if match else None


@lru_cache(maxsize=4096)
def read_count(text: str) -> float | None:
    """Read `1662K`; RocksDB's own rounding stays."""
    match = _COUNT.fullmatch(text)
    return float(match[1]) * _SUFFIXES[match[2]] if match else None


@lru_cache(maxsize=4096)
def read_size(text: str) -> float | None:
    """Read `53.84 MB` as bytes."""
    amount, _, unit = text.partition(" ")
    value = read_number(amount)
    return value * _UNITS[unit] if value is not None and unit in _UNITS else None


def _amount(unit: float = 1.0) -> Callable[[str], float | None]:
    def read(text: str) -> float | None:
        value = read_number(text)
        return None if value is None else value * unit

    return lru_cache(4096)(read)


_gigabytes = _amount(GB)


def _files(part: int) -> Callable[[str], float | None]:
    """Read a part of `4/2`: four files, two of them being compacted."""
    return lru_cache(4096)(lambda text: read_count(f"{text}/".split("/")[part]))


class Field(NamedTuple):
    """A column of the compaction table: its name in the table `levels`, and the metric that its Sum row is."""

    name: str
    column: str
    read: Callable[[str], float | None]
    metric: str = ""


FIELDS = (
    Field("files", "Files", _files(0), "lsm_files"),
    Field("compacting_files", "Files", _files(1)),
    Field("bytes", "Size", read_size, "lsm_bytes"),
    Field("score", "Score", _amount()),
    Field("read_bytes", "Read(GB)", _gigabytes),
    Field("read_own_bytes", "Rn(GB)", _gigabytes),
    Field("read_next_bytes", "Rnp1(GB)", _gigabytes),
    Field("write_bytes", "Write(GB)", _gigabytes),
    Field("write_uncompressed_bytes", "WPreComp(GB)", _gigabytes),
    Field("write_new_bytes", "Wnew(GB)", _gigabytes),
    Field("moved_bytes", "Moved(GB)", _gigabytes),
    Field("write_amplification", "W-Amp", _amount()),
    Field("read_mb_per_s", "Rd(MB/s)", _amount()),
    Field("write_mb_per_s", "Wr(MB/s)", _amount()),
    Field("seconds", "Comp(sec)", _amount(), "compaction_seconds"),
    Field("cpu_seconds", "CompMergeCPU(sec)", _amount(), "compaction_cpu_seconds"),
    Field("compactions", "Comp(cnt)", _amount(), "compactions"),
    Field("average_seconds", "Avg(sec)", _amount()),
    Field("keys_in", "KeyIn", read_count, "compaction_keys_in"),
    Field("keys_dropped", "KeyDrop", read_count, "compaction_keys_dropped"),
    Field("blob_read_bytes", "Rblob(GB)", _gigabytes, "blob_read_bytes"),
    Field("blob_write_bytes", "Wblob(GB)", _gigabytes, "blob_write_bytes"),
    Field("bytes", "Size(MB)", _amount(MB), "lsm_bytes"),  # up to 5.0
)
_LEVEL0 = {"files": "l0_files", "bytes": "l0_bytes"}


class PrintedTable(NamedTuple):
    group: str  # Level, or Priority
    family: str
    columns: Sequence[str]
    cells: Mapping[str, Sequence[str]]  # by name of the row

    def row(self, name: str) -> Row:
        return dict(zip(self.columns, self.cells.get(name, ()), strict=False))


def compaction_figures(text: str) -> dict[str, float]:
    sums, level0 = sum_row(text), _last_row(text, "L0")
    figures: dict[str, float | None] = {}
    for field in FIELDS:
        if field.metric and field.column in sums:
            figures[field.metric] = field.read(sums[field.column])
        if field.name in _LEVEL0 and field.column in level0:
            figures[_LEVEL0[field.name]] = field.read(level0[field.column])
    return {name: value for name, value in figures.items() if value is not None}


def compaction_tables(text: str) -> Sequence[Mapping[str, Row]]:
    """List every table of levels, in order: name of the row -> column -> text."""
    tables = (table for table in _tables(text) if table.group == "Level")
    return [{name: table.row(name) for name in table.cells} for table in tables]


def compaction_levels(text: str) -> list[dict[str, float | str]]:
    """Read each column family's last tables: by level, then by the priority of the threads that did the work."""
    return [*_level_rows(text, "Level", _LEVEL_NAME), *_level_rows(text, "Priority", _ANY_NAME)]


@lru_cache(maxsize=4)
def sum_row(text: str) -> Row:
    return _last_row(text, "Sum")


def _last_row(text: str, name: str) -> Row:
    """Find a row in the last table of the default column family."""
    tables = [table for table in _tables(text) if table.group == "Level"]
    tables = [table for table in tables if table.family == DEFAULT_FAMILY] or tables
    return tables[-1].row(name) if tables else {}


@lru_cache(maxsize=4)
def _tables(text: str) -> Sequence[PrintedTable]:
    lines = f"\n{text}"
    titles = list(_TITLE.finditer(lines))
    ends = [*(title.start() for title in titles), len(lines)][1:]
    tables = (_table(title[1], lines[title.end() : end]) for title, end in zip(titles, ends, strict=True))
    return [table for table in tables if table]


def _table(family: str, text: str) -> PrintedTable | None:
    """Read header, dashes and rows; `text` begins behind the title."""
    _, header, _, rows = (*text.split("\n", 3), "", "", "")[:4]
    columns = header.split()
    if not columns:
        return None
    doubled = len(set(columns)) != len(columns)
    return PrintedTable(columns[0], family, columns, {} if doubled else _cells(rows.partition("\n\n")[0], columns))


def _cells(text: str, columns: Sequence[str]) -> dict[str, Sequence[str]]:
    """Read rows with as many cells as the header has names, so that no cell moves to another column."""
    cells_by_row: dict[str, Sequence[str]] = {}
    size = columns.index("Size") if "Size" in columns else None
    for line in _SIZE_GAP.sub("_", text).split("\n"):
        cells = line.split()
        if len(cells) != len(columns):
            break
        if size is not None:
            cells[size] = cells[size].replace("_", " ")
        cells_by_row[cells[0]] = cells
    return cells_by_row


def _level_rows(text: str, group: str, names: re.Pattern[str]) -> Iterator[dict[str, float | str]]:
    last = {table.family: table for table in _tables(text) if table.group == group}
    for family, table in last.items():
        columns = list(table.columns)
        fields = [(field.name, columns.index(field.column), field.read) for field in FIELDS if field.column in columns]
        for name, cells in table.cells.items():
            if names.fullmatch(name):
                values = {field: value for field, at, read in fields if (value := read(cells[at])) is not None}
                yield {"family": family, group.lower(): name, **values}


# Lines of the dump are found by how they begin: a literal text is found fast, also from behind.


class StatisticsLine(NamedTuple):
    begin: str
    tail: re.Pattern[str]

    def last(self, text: str) -> re.Match[str] | None:
        at = len(text)
        while (at := text.rfind(self.begin, 0, at)) >= 0:
            match = self.tail.match(text, at + len(self.begin)) if at == 0 or text[at - 1] == "\n" else None
            if match:
                return match
        return None


def _line(begin: str, tail: str) -> StatisticsLine:
    return StatisticsLine(begin, re.compile(tail, re.MULTILINE))


# Totals since the database was opened. A short run prints 0.01 GB, and the same finer elsewhere in its output: the
# finest estimate that agrees with the dump counts.


class Estimate(NamedTuple):
    value: float
    error: float = 0.0  # at most

    def times(self, other: Estimate) -> Estimate:
        return Estimate(self.value * other.value, self.error * other.value + other.error * self.value)

    def agrees(self, other: Estimate) -> bool:
        return abs(self.value - other.value) <= (self.error + other.error) * 1.001  # printf rounds halves either way


class Volume(NamedTuple):
    """Bytes that the dump prints in GB under `name`, and where else an output has them."""

    name: str
    metric: str
    tickers: tuple[str, ...]
    table_rate: str = ""  # a column of the compaction table


VOLUMES = (
    Volume("ingest", "ingest_bytes", ("rocksdb.bytes.written",)),
    Volume("wal", "wal_bytes", ("rocksdb.wal.bytes",)),
    Volume("flush", "flush_bytes", ("rocksdb.flush.write.bytes",)),
    Volume(
        "write",
        "compaction_write_bytes",
        ("rocksdb.flush.write.bytes", "rocksdb.compact.write.bytes"),
        "Wr(MB/s)",
    ),
    Volume("read", "compaction_read_bytes", ("rocksdb.compact.read.bytes",), "Rd(MB/s)"),
)
_DUMP_LINES = (
    _line("Uptime(secs): ", r"(?P<total>\d+\.\d+) total, (?P<interval>\d+\.\d+) interval$"),
    _line("Flush(GB): cumulative ", r"(?P<flush>\d+\.\d+)"),
    _line(
        "Cumulative compaction: ",
        r"(?P<write>\d+\.\d+) GB write, (?P<write_rate>\d+\.\d+) MB/s write, "
        r"(?P<read>\d+\.\d+) GB read, (?P<read_rate>\d+\.\d+) MB/s read",
    ),
    _line(
        "Cumulative writes: ",
        r".*?, (?P<keys>\d+[KMG]?) keys, .*\bingest: (?P<ingest>\d+\.\d+) GB, (?P<ingest_rate>\d+\.\d+) MB/s$",
    ),
    _line("Cumulative WAL: ", r".*\bwritten: (?P<wal>\d+\.\d+) GB, (?P<wal_rate>\d+\.\d+) MB/s$"),
    _line("Interval writes: ", r".*\bingest: (?P<ingest_recent>\d+\.\d+) MB, "),
    _line("Interval WAL: ", r".*\bwritten: (?P<wal_recent>\d+\.\d+) MB, "),
)
# "writes per sync" of no sync is all of them, in every release
_LOG_WRITES = _line("Cumulative WAL: ", r"\S+ writes, 0 syncs, (\d+)\.00 writes per sync")
_SINGLE_VALUES = (
    ("pending_compaction_bytes", _line("Estimated pending compaction bytes: ", r"(\d+)$"), 1),
    ("blob_bytes", _line("Blob file count: ", r"\d+, total size: (\d+\.\d+) GB"), GB),
    ("added_file_bytes", _line("AddFile(GB): cumulative ", r"(\d+\.\d+)"), GB),
)


def total_figures(text: str) -> dict[str, float]:
    matches = (line.last(text) for line in _DUMP_LINES)
    dump = {name: match[name] for match in matches if match for name in match.re.groupindex}
    volumes = {
        volume.metric: _finest(_printed(dump[volume.name], GB), _estimates(volume, dump, text))
        for volume in VOLUMES
        if volume.name in dump
    }
    figures = {name: float(match[1]) * unit for name, line, unit in _SINGLE_VALUES if (match := line.last(text))}
    if "total" in dump:
        figures["uptime_seconds"] = float(dump["total"])
    figures |= {name: volume.value for name, volume in volumes.items()}
    if (keys := _written_keys(dump.get("keys", ""), text)) is not None:
        figures["keys_written"] = keys
    if "write_rate" in dump:
        figures["compaction_write_mb_per_s"] = float(dump["write_rate"])
    return figures | _amplification(dump, volumes)


@lru_cache(maxsize=4096)  # a run prints the same several times
def _printed(text: str, unit: float = 1.0) -> Estimate:
    """Read `0.12`: wrong by half a hundredth of the unit at most."""
    decimals = len(text.partition(".")[2])
    return Estimate(float(text) * unit, 0.5 * 10.0**-decimals * unit)


def _finest(first: Estimate, estimates: Iterable[Estimate]) -> Estimate:
    """Choose among those that agree with the first: another source may be of another time, or count other IO."""
    finest = first
    for estimate in estimates:
        if estimate.error < finest.error and estimate.agrees(first):
            finest = estimate
    return finest


def _estimates(volume: Volume, dump: Mapping[str, str], text: str) -> Iterator[Estimate]:
    rate, recent, total = dump.get(f"{volume.name}_rate"), dump.get(f"{volume.name}_recent"), dump.get("total")
    if rate is not None and total is not None:
        yield _printed(rate, MB).times(_printed(total))
    if recent is not None and total == dump.get("interval"):  # the first dump of the database
        yield _printed(recent, MB)
    if volume.table_rate:
        row = sum_row(text)
        rate, seconds = row.get(volume.table_rate, ""), row.get("Comp(sec)", "")
        if read_number(rate) is not None and read_number(seconds) is not None:
            yield _printed(rate, MB).times(_printed(seconds))
    counters = statistics_counters(text)
    if counts := [counters[name] for name in volume.tickers if name in counters]:
        yield Estimate(sum(counts))


def _written_keys(keys: str, text: str) -> float | None:
    """Correct `10K`, which is rounded down to thousands, by a counter, or by the writes to the log."""
    value = read_count(keys)
    if value is None:
        return None
    rounded = Estimate(value, read_count(f"1{keys.lstrip('0123456789')}") or 0.0)
    log = _LOG_WRITES.last(text)
    counts = (statistics_counters(text).get("rocksdb.number.keys.written"), float(log[1]) if log else None)
    return next((count for count in counts if count is not None and Estimate(count).agrees(rounded)), value)


def _amplification(dump: Mapping[str, str], volumes: Mapping[str, Estimate]) -> dict[str, float]:
    """Divide the volumes, or their rates, which have one uptime: those that are known better.

    RocksDB's cumulative compaction has the flushed bytes in it already; adding them again, as published figures
    did, gives a load without compaction a factor of 2.
    """
    written, ingested = volumes.get("compaction_write_bytes"), volumes.get("ingest_bytes")
    if written is None or ingested is None:
        return {}
    rates = (_printed(dump["write_rate"]), _printed(dump["ingest_rate"]))
    numerator, denominator = min(((written, ingested), rates), key=_relative_error)
    figures = {"write_amplification": numerator.value / denominator.value} if denominator.value else {}
    if (flushed := volumes.get("flush_bytes")) and ingested.value:
        figures["write_amplification_published"] = (written.value + flushed.value) / ingested.value
    return figures


def _relative_error(pair: tuple[Estimate, Estimate]) -> float:
    """Relate to the divisor: when nothing was written the factor is 0, however coarse."""
    written, ingested = pair
    if not ingested.value:
        return float("inf")
    return (written.error + ingested.error) / ingested.value


# Write stalls. RocksDB renamed the counters in 8.1; here they have one set of names.

# name since 8.1 -> metric, and the name before, with the meaning unchanged
STALLS = {
    "l0-file-count-limit-delays": ("stall_l0_delays", "level0_slowdown"),
    "l0-file-count-limit-stops": ("stall_l0_stops", "level0_numfiles"),
    "memtable-limit-delays": ("stall_memtable_delays", "memtable_slowdown"),
    "memtable-limit-stops": ("stall_memtable_stops", "memtable_compaction"),
    "pending-compaction-bytes-delays": ("stall_pending_delays", "slowdown for pending_compaction_bytes"),
    "pending-compaction-bytes-stops": ("stall_pending_stops", "stop for pending_compaction_bytes"),
    "cf-l0-file-count-limit-delays-with-ongoing-compaction": (
        "stall_l0_compacting_delays",
        "level0_slowdown_with_compaction",
    ),
    "cf-l0-file-count-limit-stops-with-ongoing-compaction": (
        "stall_l0_compacting_stops",
        "level0_numfiles_with_compaction",
    ),
    "write-buffer-manager-limit-stops": ("stall_write_buffer_manager_stops", None),
}
STALL_TOTALS = {
    "stall_delays": ("stall_l0_delays", "stall_memtable_delays", "stall_pending_delays"),
    "stall_stops": ("stall_l0_stops", "stall_memtable_stops", "stall_pending_stops"),
}

_STALL_METRICS = {name: metric for name, (metric, _) in STALLS.items()}
_OLD_STALL_METRICS = {name: metric for metric, name in STALLS.values() if name}
_OLD_STALLS = _line("Stalls(count): ", r"(.*), interval \d+ total count$")
_OLD_STALL = re.compile(r"(?:^|, )(\d+) ([^,]+)")
_STALLS_BEGIN = "\nWrite Stall (count): "
_STALLS_LINE = re.compile(rf"{re.escape(_STALLS_BEGIN)}(.*)$", re.MULTILINE)
_STALL = re.compile(r"([a-z0-9-]++): (\d++)(?=[,\s]|$)")
_STALL_TIME = _line("Cumulative stall: ", r"(\d+):(\d+):(\d+\.\d+) H:M:S, (\d+\.\d+) percent$")


def stall_figures(text: str) -> dict[str, float]:
    figures = _stall_counts(text)
    for total, parts in STALL_TOTALS.items():
        if all(part in figures for part in parts):
            figures[total] = sum(figures[part] for part in parts)
    if STALL_TOTALS.keys() <= figures.keys():
        figures["stalls"] = sum(figures[total] for total in STALL_TOTALS)
    if time := _STALL_TIME.last(text):
        hours, minutes, seconds, percent = time.groups()
        figures["stall_seconds"] = 3600 * int(hours) + 60 * int(minutes) + float(seconds)
        figures["stall_pct"] = float(percent)
    return figures


def _stall_counts(text: str) -> dict[str, float]:
    """Read the line before 8.1; else two lines a dump: the column family's, the database's.

    8.1 ends neither of the two, so that other text may follow on the line.
    """
    old = _OLD_STALLS.last(text)
    pairs = _OLD_STALL.findall(old[1]) if old else ()
    if counts := {_OLD_STALL_METRICS[name]: float(count) for count, name in pairs if name in _OLD_STALL_METRICS}:
        return counts
    lines = f"\n{text}"
    start = lines.find(_STALLS_BEGIN)
    pairs = _STALL.findall(", ".join(_STALLS_LINE.findall(lines, start))) if start >= 0 else ()
    return {_STALL_METRICS[name]: float(count) for name, count in pairs if name in _STALL_METRICS}


# Memory that the engine holds: `memstats`, and the block cache's line in its statistics.

_PROPERTY = re.compile(r"\n(rocksdb\.[a-z-]*mem-tables?): (\d+)$", re.MULTILINE)
# 8.1 does not end the line before it
_CACHE = re.compile(r"Block cache \S+ capacity: (?P<capacity>\S+ [KMGT]?B)\b(?P<tail>.*)$", re.MULTILINE)
_CACHE_USAGE = re.compile(r" usage: (\S+ [KMGT]?B)\b")


@lru_cache(maxsize=2)
def memory_properties(text: str) -> Mapping[str, float]:
    """Read memtables by RocksDB's names."""
    if "mem-table" not in text:
        return {}
    return {name: float(value) for name, value in _PROPERTY.findall(f"\n{text}")}


def memory_figures(text: str) -> dict[str, float]:
    values = {"memtable_bytes": memory_properties(text).get("rocksdb.size-all-mem-tables")}
    if caches := list(_CACHE.finditer(text)):
        usage = _CACHE_USAGE.search(caches[-1]["tail"])
        values["block_cache_capacity_bytes"] = read_size(caches[-1]["capacity"])
        values["block_cache_bytes"] = read_size(usage[1]) if usage else None
    return {name: value for name, value in values.items() if value is not None}


# The engine's counters, as --statistics prints them at the end: tickers, and figures of each histogram.

_COUNTER_BEGIN = "\nrocksdb."
_TICKER = re.compile(r"\n(rocksdb\.\S+) COUNT : (\d+)$", re.MULTILINE)
_HISTOGRAM = re.compile(r"\n(rocksdb\.\S+)((?: P\d+(?:\.\d+)? : \S+)*) COUNT : (\d+) SUM : (\d+)$", re.MULTILINE)
_PERCENTILE = re.compile(r"P(\S+) : (\d+\.\d+)")
_HIGHEST = "100"


@lru_cache(maxsize=2)
def statistics_counters(text: str) -> Mapping[str, float]:
    """Read counters by RocksDB's names. A histogram without samples has no percentiles."""
    lines = f"\n{text}"
    start = lines.find(_COUNTER_BEGIN)
    if start < 0:
        return {}
    counters = {name: float(count) for name, count in _TICKER.findall(lines, start)}
    for name, percentiles, count, total in _HISTOGRAM.findall(lines, start) if " SUM : " in lines else ():
        counters |= {f"{name}.count": float(count), f"{name}.sum": float(total)}
        for rank, value in _PERCENTILE.findall(percentiles) if int(count) else ():
            counters[f"{name}.max" if rank == _HIGHEST else f"{name}.p{rank}"] = float(value)
    return counters


def block_cache_figures(text: str) -> dict[str, float]:
    counters = statistics_counters(text)
    hits, misses = counters.get("rocksdb.block.cache.hit"), counters.get("rocksdb.block.cache.miss")
    if hits is None or misses is None or not hits + misses:
        return {}
    return {"block_cache_hit_pct": 100 * hits / (hits + misses)}


# How long reads of files took, by level.

_READS_TITLE = re.compile(r"\*\* File Read Latency Histogram By Level \[(?P<family>.*)\] \*\*")
_READS_LEVEL = re.compile(rf"\*\* Level (?P<level>\d+) read latency histogram \(micros\):{STATISTICS}")


def file_reads(text: str) -> list[dict[str, float | str]]:
    """Read the last histogram of each level of each column family."""
    titles = list(_READS_TITLE.finditer(text))
    ends = [*(title.start() for title in titles), len(text)][1:]
    rows: dict[tuple[str, int], dict[str, float | str]] = {}
    for title, end in zip(titles, ends, strict=True):
        for head in _READS_LEVEL.finditer(text, title.end(), end):
            family, level = title["family"], int(head["level"])
            rows[family, level] = {"family": family, "level": f"L{level}", **read_statistics(head)}
    return [rows[key] for key in sorted(rows)]
