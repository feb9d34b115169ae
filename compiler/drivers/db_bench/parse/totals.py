"""Totals of the statistics dump since the database was opened: compaction, flush, ingest, log. The last dump counts."""

from __future__ import annotations

import re
from collections.abc import Mapping

GB = 2**30
MB = 2**20

_VOLUMES = {
    "write": "compaction_write_bytes",
    "read": "compaction_read_bytes",
    "ingest": "ingest_bytes",
    "wal": "wal_bytes",
}

_UPTIME = re.compile(r"^Uptime\(secs\): (\d+\.\d+) total", re.MULTILINE)
_FLUSH = re.compile(r"^Flush\(GB\): cumulative (\d+\.\d+)", re.MULTILINE)
_COMPACTION = re.compile(
    r"^Cumulative compaction: (?P<write>\d+\.\d+) GB write, (?P<write_rate>\d+\.\d+) MB/s write, "
    r"(?P<read>\d+\.\d+) GB read, (?P<read_rate>\d+\.\d+) MB/s read",
    re.MULTILINE,
)
_WRITES = re.compile(
    r"^Cumulative writes: .*\bingest: (?P<ingest>\d+\.\d+) GB, (?P<ingest_rate>\d+\.\d+) MB/s$", re.MULTILINE
)
_LOG = re.compile(r"^Cumulative WAL: .*\bwritten: (?P<wal>\d+\.\d+) GB, (?P<wal_rate>\d+\.\d+) MB/s$", re.MULTILINE)
_PENDING = re.compile(r"^Estimated pending compaction bytes: (\d+)$", re.MULTILINE)
_BLOBS = re.compile(r"^Blob file count: \d+, total size: (\d+\.\d+) GB", re.MULTILINE)


def figures(text: str) -> dict[str, float]:
    simple = {
        "uptime_seconds": (_UPTIME, 1),
        "flush_bytes": (_FLUSH, GB),
        "pending_compaction_bytes": (_PENDING, 1),
        "blob_bytes": (_BLOBS, GB),
    }
    found = {name: float(last[1]) * unit for name, (line, unit) in simple.items() if (last := _last(line, text))}
    lines = (_last(_COMPACTION, text), _last(_WRITES, text), _last(_LOG, text))
    printed = {name: float(value) for line in lines if line for name, value in line.groupdict().items()}
    return found | _volumes(printed, found.get("uptime_seconds")) | _ratios(printed)


def _volumes(printed: Mapping[str, float], uptime: float | None) -> dict[str, float]:
    return {
        metric: _volume(printed[name], printed[f"{name}_rate"], uptime)
        for name, metric in _VOLUMES.items()
        if name in printed
    }


def _volume(gigabytes: float, rate: float, uptime: float | None) -> float:
    """In bytes. Both are printed to a hundredth, the uptime to a tenth: a small volume is told better by its rate."""
    if not uptime or not rate:
        return gigabytes * GB
    by_rate = rate * uptime * MB
    uncertain = 0.005 * MB * uptime + 0.05 * MB * rate
    return gigabytes * GB if uncertain > 0.005 * GB else by_rate


def _ratios(printed: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    if "write_rate" in printed:
        found["compaction_write_mb_per_s"] = printed["write_rate"]
    if {"write", "ingest"} <= printed.keys() and (ratio := _amplification(printed)) is not None:
        found["write_amplification"] = ratio
    return found


def _amplification(printed: Mapping[str, float]) -> float | None:
    """Volumes and rates have two decimals each and the same ratio: the pair with more digits that count is taken.

    What RocksDB calls cumulative compaction has the flushed bytes in it already; adding them again, as published
    figures did, gives a load without compaction a factor of 2.
    """
    volumes = (printed["write"], printed["ingest"])
    rates = (printed["write_rate"], printed["ingest_rate"])
    written, ingested = max(volumes, rates, key=lambda pair: pair[1])
    return written / ingested if ingested else None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(pattern.finditer(text), key=lambda match: match.start(), default=None)
