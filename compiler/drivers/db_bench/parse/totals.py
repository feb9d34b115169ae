"""Totals of the statistics dump since the database was opened: compaction, flush, ingest, log. The last dump counts."""

from __future__ import annotations

import re

from compiler.drivers.db_bench.parse import compaction, volumes
from compiler.drivers.db_bench.parse.estimate import Estimate, printed

GB = 2**30

_UPTIME = re.compile(r"\nUptime\(secs\): (?P<total>\d+\.\d+) total, (?P<interval>\d+\.\d+) interval$", re.MULTILINE)
_FLUSH = re.compile(r"\nFlush\(GB\): cumulative (?P<flush>\d+\.\d+)", re.MULTILINE)
_COMPACTION = re.compile(
    r"\nCumulative compaction: (?P<write>\d+\.\d+) GB write, (?P<write_rate>\d+\.\d+) MB/s write, "
    r"(?P<read>\d+\.\d+) GB read, (?P<read_rate>\d+\.\d+) MB/s read",
    re.MULTILINE,
)
_WRITES = re.compile(
    r"\nCumulative writes: .*?, (?P<keys>\d+[KMG]?) keys, .*\bingest: (?P<ingest>\d+\.\d+) GB, "
    r"(?P<ingest_rate>\d+\.\d+) MB/s$",
    re.MULTILINE,
)
_LOG = re.compile(r"\nCumulative WAL: .*\bwritten: (?P<wal>\d+\.\d+) GB, (?P<wal_rate>\d+\.\d+) MB/s$", re.MULTILINE)
# "writes per sync" of no sync is all of them, in every release
_LOGGED = re.compile(r"\nCumulative WAL: \S+ writes, 0 syncs, (\d+)\.00 writes per sync", re.MULTILINE)
_RECENT = re.compile(r"\nInterval writes: .*\bingest: (?P<ingest_recent>\d+\.\d+) MB, ", re.MULTILINE)
_RECENT_LOG = re.compile(r"\nInterval WAL: .*\bwritten: (?P<wal_recent>\d+\.\d+) MB, ", re.MULTILINE)
_PENDING = re.compile(r"\nEstimated pending compaction bytes: (\d+)$", re.MULTILINE)
_BLOBS = re.compile(r"\nBlob file count: \d+, total size: (\d+\.\d+) GB", re.MULTILINE)
_ADDED = re.compile(r"\nAddFile\(GB\): cumulative (\d+\.\d+)", re.MULTILINE)
_DUMPED = (_UPTIME, _FLUSH, _COMPACTION, _WRITES, _LOG, _RECENT, _RECENT_LOG)


def figures(text: str) -> dict[str, float]:
    lines = (_last(pattern, text) for pattern in _DUMPED)
    said = {name: value for line in lines if line for name, value in line.groupdict().items()}
    found = volumes.volumes(said, text)
    return {
        **_simple(text),
        **({"uptime_seconds": float(said["total"])} if "total" in said else {}),
        **{name: estimate.value for name, estimate in found.items()},
        **_keys(said, text),
        **({"compaction_write_mb_per_s": float(said["write_rate"])} if "write_rate" in said else {}),
        **_amplification(said, found),
    }


def _simple(text: str) -> dict[str, float]:
    lines = {
        "pending_compaction_bytes": (_PENDING, 1),
        "blob_bytes": (_BLOBS, GB),
        "added_file_bytes": (_ADDED, GB),
    }
    return {name: float(last[1]) * unit for name, (line, unit) in lines.items() if (last := _last(line, text))}


def _keys(said: volumes.Said, text: str) -> dict[str, float]:
    """`10K` is rounded down to thousands: a tenth may be missing. Writes to the log are keys where each has one."""
    value = compaction.count(said["keys"]) if "keys" in said else None
    if value is None:
        return {}
    rounded = compaction.count(f"1{said['keys'].lstrip('0123456789')}") or 0.0
    logged = _last(_LOGGED, text)
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


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Patterns begin with the end of the line before: a literal text is found fast, the beginning of a line is not."""
    found = None
    for found in pattern.finditer(f"\n{text}"):  # noqa: B007 - the last
        pass
    return found
