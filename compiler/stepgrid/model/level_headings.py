"""The figures of a level as RocksDB heads its columns and prints them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Show = Callable[[float], str]


def _gb(value: float) -> str:
    return f"{value / 2**30:z.1f}"


def _count(value: float) -> str:
    """1662K: as RocksDB rounds it."""
    for factor, sign in ((10**9, "G"), (10**6, "M"), (10**3, "K")):
        if value >= 10 * factor:
            return f"{value / factor:.0f}{sign}"
    return f"{value:.0f}"


def _size(value: float) -> str:
    for power, sign in ((40, "TB"), (30, "GB"), (20, "MB"), (10, "KB")):
        if value >= 2**power:
            return f"{value / 2**power:.2f} {sign}"
    return f"{value:.2f} KB" if value == 0 else f"{value / 1024:.2f} KB"


def _digits(number: int) -> Show:
    return lambda value: f"{value:.{number}f}"


# what the table has -> RocksDB's head for it, and how it prints it
HEADINGS: Mapping[str, tuple[str, Show]] = {
    "files": ("Files", _digits(0)),
    "bytes": ("Size", _size),
    "score": ("Score", _digits(1)),
    "read_bytes": ("Read(GB)", _gb),
    "read_own_bytes": ("Rn(GB)", _gb),
    "read_next_bytes": ("Rnp1(GB)", _gb),
    "write_bytes": ("Write(GB)", _gb),
    "write_uncompressed_bytes": ("WPreComp(GB)", _gb),
    "write_new_bytes": ("Wnew(GB)", _gb),
    "moved_bytes": ("Moved(GB)", _gb),
    "write_amplification": ("W-Amp", _digits(1)),
    "read_mb_per_s": ("Rd(MB/s)", _digits(1)),
    "write_mb_per_s": ("Wr(MB/s)", _digits(1)),
    "seconds": ("Comp(sec)", _digits(2)),
    "cpu_seconds": ("CompMergeCPU(sec)", _digits(2)),
    "compactions": ("Comp(cnt)", _digits(0)),
    "average_seconds": ("Avg(sec)", _digits(3)),
    "keys_in": ("KeyIn", _count),
    "keys_dropped": ("KeyDrop", _count),
    "blob_read_bytes": ("Rblob(GB)", _gb),
    "blob_write_bytes": ("Wblob(GB)", _gb),
}
