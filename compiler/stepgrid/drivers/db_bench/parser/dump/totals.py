"""Totals of the statistics dump since the database was opened: compaction, flush, ingest, log. The last dump counts."""

from __future__ import annotations

from stepgrid.drivers.db_bench.parser.dump import compaction, volumes
from stepgrid.drivers.db_bench.parser.estimate import Estimate, printed
from stepgrid.drivers.db_bench.parser.line import line

GB = 2**30


_UPTIME = line("Uptime(secs): ", r"(?P<total>\d+\.\d+) total, (?P<interval>\d+\.\d+) interval$")
_FLUSH = line("Flush(GB): cumulative ", r"(?P<flush>\d+\.\d+)")
_COMPACTION = line(
    "Cumulative compaction: ",
    r"(?P<write>\d+\.\d+) GB write, (?P<write_rate>\d+\.\d+) MB/s write, "
    r"(?P<read>\d+\.\d+) GB read, (?P<read_rate>\d+\.\d+) MB/s read",
)
_WRITES = line(
    "Cumulative writes: ",
    r".*?, (?P<keys>\d+[KMG]?) keys, .*\bingest: (?P<ingest>\d+\.\d+) GB, (?P<ingest_rate>\d+\.\d+) MB/s$",
)
_LOG = line("Cumulative WAL: ", r".*\bwritten: (?P<wal>\d+\.\d+) GB, (?P<wal_rate>\d+\.\d+) MB/s$")
# "writes per sync" of no sync is all of them, in every release
_LOGGED = line("Cumulative WAL: ", r"\S+ writes, 0 syncs, (\d+)\.00 writes per sync")
_RECENT = line("Interval writes: ", r".*\bingest: (?P<ingest_recent>\d+\.\d+) MB, ")
_RECENT_LOG = line("Interval WAL: ", r".*\bwritten: (?P<wal_recent>\d+\.\d+) MB, ")
_PENDING = line("Estimated pending compaction bytes: ", r"(\d+)$")
_BLOBS = line("Blob file count: ", r"\d+, total size: (\d+\.\d+) GB")
_ADDED = line("AddFile(GB): cumulative ", r"(\d+\.\d+)")
_SIMPLE = (("pending_compaction_bytes", _PENDING, 1), ("blob_bytes", _BLOBS, GB), ("added_file_bytes", _ADDED, GB))
_DUMPED = (_UPTIME, _FLUSH, _COMPACTION, _WRITES, _LOG, _RECENT, _RECENT_LOG)


def figures(text: str) -> dict[str, float]:
    lines = (each.last(text) for each in _DUMPED)
    said = {name: each[name] for each in lines if each for name in each.re.groupindex}
    found = volumes.volumes(said, text)
    return {
        **{name: float(last[1]) * unit for name, each, unit in _SIMPLE if (last := each.last(text))},
        **({"uptime_seconds": float(said["total"])} if "total" in said else {}),
        **{name: estimate.value for name, estimate in found.items()},
        **_keys(said, text),
        **({"compaction_write_mb_per_s": float(said["write_rate"])} if "write_rate" in said else {}),
        **_amplification(said, found),
    }


def _keys(said: volumes.Said, text: str) -> dict[str, float]:
    """`10K` is rounded down to thousands: a tenth may be missing. Writes to the log are keys where each has one."""
    value = compaction.count(said["keys"]) if "keys" in said else None
    if value is None:
        return {}
    rounded = compaction.count(f"1{said['keys'].lstrip('0123456789')}") or 0.0
    logged = _LOGGED.last(text)
    known = (volumes.ticker("rocksdb.number.keys.written", text), Estimate(float(logged[1])) if logged else None)
    exact = (each.value for each in known if each is not None and each.agrees(Estimate(value, rounded)))
    return {"keys_written": next(exact, value)}


def _amplification(said: volumes.Said, found: volumes.Found) -> dict[str, float]:
    """Of the volumes, or of their rates, which have one uptime: of those that are known better.

    What RocksDB calls cumulative compaction has the flushed bytes in it already; adding them again, as published
    figures did, gives a load without compaction a factor of 2.
    """
    written, ingested = found.get("compaction_write_bytes"), found.get("ingest_bytes")
    if written is None or ingested is None:
        return {}
    rates = (printed(said["write_rate"]), printed(said["ingest_rate"]))
    numerator, denominator = min(((written, ingested), rates), key=_uncertain)
    amplification = {"write_amplification": numerator.value / denominator.value} if denominator.value else {}
    if (flushed := found.get("flush_bytes")) and ingested.value:
        amplification["write_amplification_published"] = (written.value + flushed.value) / ingested.value
    return amplification


def _uncertain(pair: tuple[Estimate, Estimate]) -> float:
    """Relative to what it is divided by: of nothing written the factor is 0, however coarse."""
    written, ingested = pair
    return (written.off + ingested.off) / ingested.value if ingested.value else float("inf")
