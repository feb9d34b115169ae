"""What is known of db_bench's benchmarks by name. One that is not listed is taken to count operations, untimed."""

from __future__ import annotations

from collections.abc import Sequence


def _named(text: str) -> frozenset[str]:
    return frozenset(text.split())


# print and are done
PRINTING = _named(
    """
    stats levelstats memstats sstables resetstats stats_history block_cache_entry_stats cache_report_problems
    """
)

# do or await background work: nobody can say when they end
DRAINING = _named("flush waitforcompaction compact compact0 compact1 compactall")

# obey --duration; fillseq and the like always run to their end
TIMED = _named(
    """
    fillrandom fillsync fill100K overwrite appendrandom updaterandom xorupdaterandom mergerandom deleterandom
    readrandom readrandomfast readrandomsmall readrandomoperands readrandomentity readmissing multireadrandom
    multireadentity multiscan multiscanrandom approximatesizerandom approximatememtablestats newiterator
    seekrandom readwhilewriting readwhilemerging readwhilescanning multireadwhilewriting newiteratorwhilewriting
    seekrandomwhilewriting seekrandomwhilemerging readrandomwriterandom readrandommergerandom randomtransaction
    randomreplacekeys timeseries mixgraph
    """
)

# read, and leave the tree as it is
READ_ONLY = _named(
    "readrandom readrandomfast readrandomsmall readseq readtorowcache readreverse readmissing multireadrandom "
    "seekrandom newiterator"
)

LOADS = _named("fillseq fillseqdeterministic fillrandom fillrandomdeterministic filluniquerandom")


def counts_operations(benchmark: str) -> bool:
    return benchmark not in PRINTING | DRAINING


def opens_report(benchmark: str) -> bool:
    """db_bench writes the report file anew for each of these: it then holds the last one's rates."""
    return counts_operations(benchmark) or benchmark == "compact"


def has_background_writer(benchmark: str) -> bool:
    return benchmark.endswith(("whilewriting", "whilemerging"))


def counted_beside(benchmarks: Sequence[str], measured: str | None) -> list[str]:
    """The other benchmarks of a step that do operations; compactions and the like are its own aftermath."""
    counted = [name for name in benchmarks if counts_operations(name)]
    if measured in counted:
        counted.remove(measured)
    return counted


def first_measured(benchmarks: Sequence[str]) -> str | None:
    """The benchmark that a step is about: the first that counts operations."""
    return next(filter(counts_operations, benchmarks), None)
