"""The memtable's representation."""

from __future__ import annotations

from stepgrid.drivers.db_bench.benchmarks import LOADS
from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts

_REPRESENTATION, _CONCURRENT = "memtablerep", "allow_concurrent_memtable_write"
_ONE_WRITER = ("vector", "prefix_hash", "hash_linkedlist", "cuckoo")
_ON_BY_DEFAULT = (5, 7)  # before, db_bench itself says false
_VECTOR_TAKES_MORE = (10, 4)


def _concurrent(facts: Facts) -> Verdict | None:
    kind, has = facts[_REPRESENTATION], facts["release"]
    if kind not in _ONE_WRITER or not facts.is_on(_CONCURRENT, default=has >= _ON_BY_DEFAULT):
        return None
    if kind == "vector" and has >= _VECTOR_TAKES_MORE:
        return None
    message = f"RocksDB does not open a database with `memtablerep: {kind}` and concurrent memtable writes"
    return Verdict(_REPRESENTATION, message, f"add `{_CONCURRENT}: false`")


def _read(facts: Facts) -> Verdict | None:
    if facts[_REPRESENTATION] != "vector" or facts["benchmark"] in LOADS:
        return None
    message = (
        f"step `{facts['step']}` has a vector memtable, which is for bulk loads: each read in it sorts or scans it"
    )
    return Verdict(_REPRESENTATION, message, "give it to the load step alone")


def _unknown(facts: Facts) -> Verdict | None:
    if not facts["speedb"] or facts[_REPRESENTATION] != "vector":
        return None
    message = (
        f"Speedb's db_bench does not know `memtablerep: vector`: step `{facts['step']}` writes into a skip list, and "
        "nothing says so"
    )
    return Verdict(_REPRESENTATION, message, "compare it with what RocksDB does with `memtablerep: skip_list`")


RULES = (
    Rule("vector-memtable-concurrent", "a memtable for one writer, with concurrent writes",
         each_step((_CONCURRENT,), _concurrent, (_REPRESENTATION, "release")), "error"),
    Rule("vector-memtable-reads", "a vector memtable outside of a load",
         each_step(("step",), _read, (_REPRESENTATION, "benchmark"))),
    Rule("vector-memtable-speedb", "a vector memtable, which Speedb does not have",
         each_step(("step",), _unknown, (_REPRESENTATION, "speedb"))),
)  # fmt: skip
