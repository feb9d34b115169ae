"""The 28 columns of report.tsv, and which of our metrics each holds: not always the one that its name says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

Release: TypeAlias = tuple[int, ...]

GIB = 2.0**30
LATER = ("githash",)  # columns that the first releases of the script lack
FAILED = "failed"  # in the first column of a step without a result
NONE = "NA"

METRICS: Mapping[str, tuple[str, float] | None] = {  # column -> our metric, and what one of the column is of it
    "ops_sec": ("qps", 1),
    "mb_sec": ("mb_per_s", 1),
    "lsm_sz": ("lsm_bytes", GIB),
    "blob_sz": ("blob_bytes", GIB),
    "c_wgb": ("compaction_write_bytes", GIB),
    "w_amp": None,  # adds the flushed bytes once more
    "c_mbps": ("compaction_write_mb_per_s", 1),
    "c_wsecs": ("compaction_seconds", 1),
    "c_csecs": ("compaction_cpu_seconds", 1),
    "b_rgb": ("blob_read_bytes", GIB),
    "b_wgb": ("blob_write_bytes", GIB),
    "usec_op": ("usec_per_op", 1),
    "p50": ("p50_us", 1),
    "p99": ("p99_us", 1),
    "p99.9": ("p99_9_us", 1),
    "p99.99": ("p99_99_us", 1),
    "pmax": ("max_us", 1),
    "uptime": ("uptime_seconds", 1),
    "stall%": ("stall_pct", 1),
    "Nstall": ("stalls", 1),
    "u_cpu": None,  # with s_cpu: cpu_seconds
    "s_cpu": None,
    "rss": ("process_rss_bytes", GIB),
    "test": None,
    "date": None,
    "version": None,
    "job_id": None,
    "githash": None,
}
COLUMNS = tuple(METRICS)
HEAD = "\t".join(COLUMNS)

# since it prints WPreComp(GB), every later column of the compaction table is one word farther
SHIFTED_FROM: Release = (10, 3)
SHIFTED: Mapping[str, tuple[str, float] | None] = {
    "c_wsecs": None,  # Wr(MB/s)
    "c_csecs": ("compaction_seconds", 1),
    "b_rgb": None,  # KeyDrop
    "b_wgb": ("blob_read_bytes", GIB),
}
GLUED_DIGITS = 8  # of a highest latency: ten seconds; the script prints those of two histograms in one


class Row(NamedTuple):
    path: Path
    line: int
    text: str
    cells: Mapping[str, str]
    head: str = HEAD  # as it stands above the row

    @property
    def test(self) -> str:
        return self.cells["test"]

    @property
    def version(self) -> str:
        return self.cells["version"]

    @property
    def failed(self) -> bool:
        return self.cells["ops_sec"] == FAILED


def release(version: str) -> Release:
    """`10.3.4` as numbers, as far as there are any."""
    return tuple(_leading_numbers(version))


def shifted(row: Row) -> bool:
    return release(row.version) >= SHIFTED_FROM


def glued(row: Row) -> bool:
    return len(row.cells["pmax"]) >= GLUED_DIGITS


def _leading_numbers(version: str) -> Iterator[int]:
    for part in version.split("."):
        if not part.isdecimal():
            return
        yield int(part)
