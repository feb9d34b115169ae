"""db_bench's benchmarks by name: what each does, and the first release that has it (the source at the release tags).

A benchmark that is in none of the sets below is taken to count operations, untimed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from stepgrid.plugins.driver import KeyValueOperations

Release: TypeAlias = tuple[int, ...]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# print and are done
PRINTING = _names(
    "stats levelstats memstats sstables resetstats stats_history block_cache_entry_stats cache_report_problems"
)

# do or await background work: nobody can say when they end
DRAINING = _names("flush waitforcompaction compact compact0 compact1 compactall")

# obey --duration; fillseq and the like always run to their end
TIMED = _names(
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
READ_ONLY = _names(
    "readrandom readrandomfast readrandomsmall readseq readtorowcache readreverse readmissing multireadrandom "
    "seekrandom newiterator"
)

# a readwhile… has a writer beside it, whose rate a step reports, too
OPERATIONS = KeyValueOperations(
    point_read="acquireload getmergeoperands mixgraph multireadentity multireadrandom multireadrandomcoroutine "
    "multireadwhilewriting randomwithverify readmissing readrandom readrandomcoroutine readrandomentity readrandomfast "
    "readrandommergerandom readrandomoperands readrandomsmall readrandomwriterandom readtorowcache readwhilemerging "
    "readwhilescanning readwhilewriting",
    short_range="fillseekseq mixgraph multiscan multiscanrandom seekrandom seekrandomwhilemerging "
    "seekrandomwhilewriting seekrandomwriterandom seektodeletedranges timeseries",
    full_scan="readreverse readseq readtocache readwhilescanning",
    insert="fill100K fillanddeleteuniquerandom fillbatch fillembeddedblob fillembeddedentity fillrandom fillseekseq "
    "fillseq fillseqdeterministic fillsync filluniquerandom filluniquerandomdeterministic ingestexternalfile "
    "randomwithverify timeseries",
    update="appendrandom mixgraph multireadwhilewriting newiteratorwhilewriting overwrite randomreplacekeys "
    "readrandomwriterandom readwhilewriting seekrandomwhilewriting seekrandomwriterandom updaterandom xorupdaterandom",
    merge="mergerandom readrandommergerandom readwhilemerging seekrandomwhilemerging",
    delete="deleterandom deleteseq fillanddeleteuniquerandom randomreplacekeys randomwithverify timeseries",
    transaction="randomtransaction",
)

LOADS = _names("fillseq fillseqdeterministic fillrandom fillrandomdeterministic filluniquerandom")

_FROM_THE_START = """
acquireload appendrandom compact compress crc32c deleterandom deleteseq fill100K fillbatch fillrandom fillseekseq
fillseq fillsync filluniquerandom levelstats mergerandom multireadrandom newiterator newiteratorwhilewriting overwrite
randomtransaction randomwithverify readmissing readrandom readrandomfast readrandommergerandom readrandomsmall
readrandomwriterandom readreverse readseq readtocache readwhilemerging readwhilewriting seekrandom
seekrandomwhilemerging seekrandomwhilewriting sstables stats uncompress updaterandom xxhash
"""
# no release took one out again; a release without a tag counts by its branch
_ADDED: Mapping[Release, str] = {
    (4, 1): "randomreplacekeys",
    (4, 13): "fillseqdeterministic filluniquerandomdeterministic timeseries",
    (5, 4): "resetstats verify",
    (5, 6): "compactall",
    (5, 11): "xorupdaterandom",
    (5, 15): "readwhilescanning",
    (5, 16): "replay",
    (6, 0): "mixgraph",
    (6, 4): "stats_history",
    (6, 5): "getmergeoperands readtorowcache",
    (6, 11): "approximatesizerandom",
    (6, 19): "compact0 compact1 flush memstats waitforcompaction",
    (6, 24): "fillanddeleteuniquerandom",
    (6, 27): "xxh3 xxhash64",
    (7, 0): "verifychecksum verifyfilechecksums",
    (7, 2): "readrandomoperands",
    (7, 4): "backup restore",
    (7, 7): "block_cache_entry_stats",
    (7, 9): "multireadwhilewriting",
    (8, 7): "cache_report_problems",
    (9, 8): "approximatememtablestats",
    (10, 5): "multiscan",
    (10, 8): "openandcompact",
    (11, 2): "multiscanrandom",
    (11, 5): "compressreject ingestexternalfile",
    (11, 8): "fillembeddedblob fillembeddedentity multireadentity multireadrandomcoroutine readrandomcoroutine "
    "readrandomentity",
}
_OF_SPEEDB = "seekrandomwriterandom seektodeletedranges"

FIRST_RELEASES: Mapping[str, Release] = {name: first for first, names in _ADDED.items() for name in names.split()}
ALL_BENCHMARKS = frozenset((*_FROM_THE_START.split(), *FIRST_RELEASES, *_OF_SPEEDB.split()))


def counts_operations(benchmark: str) -> bool:
    return benchmark not in PRINTING | DRAINING


def opens_report(benchmark: str) -> bool:
    """Tell whether db_bench writes the report file anew for it: the file has the rates of the last such benchmark."""
    return counts_operations(benchmark) or benchmark == "compact"


def has_background_writer(benchmark: str) -> bool:
    return benchmark.endswith(("whilewriting", "whilemerging"))


def first_measured(benchmarks: Sequence[str]) -> str | None:
    """Find the benchmark that a step is about: the first that counts operations."""
    return next(filter(counts_operations, benchmarks), None)


def other_counted(benchmarks: Sequence[str], measured: str | None) -> list[str]:
    """List the other benchmarks of a step that count operations; compactions and the like are its own aftermath."""
    counted = [name for name in benchmarks if counts_operations(name)]
    if measured in counted:
        counted.remove(measured)
    return counted


def resolved_benchmark(settings: Mapping[str, Any]) -> str | None:
    """Find the benchmark that a step of a checked spec is about, whose settings may be wrong."""
    names = settings.get("benchmarks")
    return first_measured([str(name) for name in names]) if isinstance(names, list) else None
