"""Every benchmark that some release of db_bench has, and its first: what stands in the source at the release tags."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeAlias

from pydantic_core import PydanticCustomError

Release: TypeAlias = tuple[int, ...]

_FROM_THE_START = """
acquireload appendrandom compact compress crc32c deleterandom deleteseq fill100K fillbatch fillrandom fillseekseq
fillseq fillsync filluniquerandom levelstats mergerandom multireadrandom newiterator newiteratorwhilewriting overwrite
randomtransaction randomwithverify readmissing readrandom readrandomfast readrandommergerandom readrandomsmall
readrandomwriterandom readreverse readseq readtocache readwhilemerging readwhilewriting seekrandom
seekrandomwhilemerging seekrandomwhilewriting sstables stats uncompress updaterandom xxhash
"""
# None was ever taken out again. A release without a tag counts by its branch.
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

SINCE: Mapping[str, Release] = {name: first for first, names in _ADDED.items() for name in names.split()}
KNOWN = frozenset((*_FROM_THE_START.split(), *SINCE, *_OF_SPEEDB.split()))


def known(name: str) -> str:
    if name in KNOWN:
        return name
    close = get_close_matches(name, sorted(KNOWN), n=1)
    meant = f" (nearest: `{close[0]}`)" if close else ""
    raise PydanticCustomError("no_such_benchmark", "{why}", {"why": f"db_bench has no benchmark of this name{meant}"})
