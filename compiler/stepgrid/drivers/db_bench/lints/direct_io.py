"""Direct and buffered IO."""

from __future__ import annotations

from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts
from stepgrid.model.number_format import size

_READS, _WRITES = "use_direct_reads", "use_direct_io_for_flush_and_compaction"


def _synced(facts: Facts) -> Verdict | None:
    amount = facts.amount("bytes_per_sync", 0)
    if not facts.is_on(_WRITES) or amount <= 0:
        return None
    message = f"`bytes_per_sync` is {size(amount)} with direct writes, which leave nothing in the page cache to sync"
    return Verdict("bytes_per_sync", message, "`bytes_per_sync: 0` where IO is direct")


def _half(facts: Facts) -> Verdict | None:
    reads, writes = facts.is_on(_READS), facts.is_on(_WRITES)
    if reads == writes:
        return None
    on, off = (_READS, _WRITES) if reads else (_WRITES, _READS)
    message = f"`{on}` without `{off}`: the same files go through the page cache and past it"
    return Verdict(on, message, f"set `{off}` too, or neither")


def _mapped(facts: Facts) -> Verdict | None:
    for mapped, direct in (("mmap_read", _READS), ("mmap_write", _WRITES)):
        if facts.is_on(mapped) and facts.is_on(direct):
            return Verdict(mapped, f"RocksDB refuses `{mapped}` together with `{direct}`", "keep one of them")
    return None


RULES = (
    Rule("direct-bytes-per-sync", "bytes_per_sync with direct IO", each_step((_WRITES,), _synced, ("bytes_per_sync",))),
    Rule("direct-io-half", "direct reads with buffered writes, or the other way round",
         each_step((_READS, _WRITES), _half)),
    Rule("mmap-direct", "memory-mapped and direct IO together",
         each_step(("mmap_read", "mmap_write", _READS, _WRITES), _mapped), "error"),
)  # fmt: skip
