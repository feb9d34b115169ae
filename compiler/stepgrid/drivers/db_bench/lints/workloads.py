"""What is known of db_bench's benchmarks where rules need it."""

from __future__ import annotations

READ_ONLY = frozenset(
    {
        "readrandom",
        "readrandomfast",
        "readrandomsmall",
        "readseq",
        "readtorowcache",
        "readreverse",
        "readmissing",
        "multireadrandom",
        "seekrandom",
        "newiterator",
    }
)
LOADS = frozenset({"fillseq", "fillseqdeterministic", "fillrandom", "fillrandomdeterministic", "filluniquerandom"})


def writes_behind(benchmark: str) -> bool:
    """Whether a background writer runs beside the readers."""
    return benchmark.endswith(("whilewriting", "whilemerging"))
