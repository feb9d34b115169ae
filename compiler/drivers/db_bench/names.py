"""Every benchmark that some release of db_bench has: a name that none has is a slip."""

from __future__ import annotations

from difflib import get_close_matches

from pydantic_core import PydanticCustomError

from compiler.drivers.db_bench.benchmarks import DRAINING, PRINTING, TIMED

_OTHERS = """
acquireload approximatesizerandom backup compactseq compress crc32c deleteseq fillanddeleteuniquerandom fillbatch
filldeterministic fillseekseq fillseq fillseqdeterministic filluniquerandom filluniquerandomdeterministic
getmergeoperands ingestexternalfile multireadwhilewriting multiscan openandcompact readhot readreverse readseq
readtocache readtorowcache readwhilescanning refreshcache replay restore secondaryupdate seekseq trace uncompress
verify verifychecksum verifyfilechecksums xxh3 xxhash xxhash64
"""
KNOWN = DRAINING | PRINTING | TIMED | frozenset(_OTHERS.split())


def known(name: str) -> str:
    if name in KNOWN:
        return name
    close = get_close_matches(name, sorted(KNOWN), n=1)
    meant = f" (nearest: `{close[0]}`)" if close else ""
    raise PydanticCustomError("no_such_benchmark", "{why}", {"why": f"db_bench has no benchmark of this name{meant}"})
