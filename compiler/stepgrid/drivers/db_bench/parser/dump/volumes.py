"""Bytes since the database was opened: a short run prints 0.01 GB, and the same finer elsewhere in its output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from stepgrid.drivers.db_bench.parser.dump import compaction
from stepgrid.drivers.db_bench.parser.estimate import Estimate, finest, printed
from stepgrid.drivers.db_bench.parser.statistics import counters

GB = 2**30
MB = 2**20
Said: TypeAlias = Mapping[str, str]  # the last dump, by names of our own
Found: TypeAlias = Mapping[str, Estimate]  # by name of plugins.metrics.METRICS

_METRICS = {
    "ingest": "ingest_bytes",
    "wal": "wal_bytes",
    "flush": "flush_bytes",
    "write": "compaction_write_bytes",
    "read": "compaction_read_bytes",
}
_TICKERS: Mapping[str, Sequence[str]] = {
    "ingest": ("rocksdb.bytes.written",),
    "wal": ("rocksdb.wal.bytes",),
    "flush": ("rocksdb.flush.write.bytes",),
    "write": ("rocksdb.flush.write.bytes", "rocksdb.compact.write.bytes"),
    "read": ("rocksdb.compact.read.bytes",),
}
_TABLE_RATES = {"write": "Wr(MB/s)", "read": "Rd(MB/s)"}


def volumes(said: Said, text: str) -> dict[str, Estimate]:
    """What another source says counts where it agrees with the dump: it may be of another time, or count other IO."""
    row, known = compaction.sums(text), counters(text)
    return {
        metric: finest(printed(said[name], GB), _others(name, said, row, known))
        for name, metric in _METRICS.items()
        if name in said
    }


def ticker(name: str, text: str) -> Estimate | None:
    value = counters(text).get(name)
    return None if value is None else Estimate(value)


def _others(name: str, said: Said, row: compaction.Row, known: Mapping[str, float]) -> Iterator[Estimate]:
    rate, recent, total = said.get(f"{name}_rate"), said.get(f"{name}_recent"), said.get("total")
    if rate is not None and total is not None:
        yield printed(rate, MB).times(printed(total))
    if recent is not None and total == said.get("interval"):  # the first dump of the database
        yield printed(recent, MB)
    if name in _TABLE_RATES:
        yield from _by_table(_TABLE_RATES[name], row)
    if found := [known[each] for each in _TICKERS[name] if each in known]:
        yield Estimate(sum(found))


def _by_table(column: str, row: compaction.Row) -> Iterator[Estimate]:
    rate, seconds = row.get(column, ""), row.get("Comp(sec)", "")
    if compaction.number(rate) is not None and compaction.number(seconds) is not None:
        yield printed(rate, MB).times(printed(seconds))
