"""What compaction reads ahead: by release, device and kind of IO."""

from __future__ import annotations

from stepgrid.drivers.db_bench.benchmarks import READ_ONLY
from stepgrid.drivers.db_bench.lints.changed_defaults import FOLLOWS_LIBRARY, compaction_readahead
from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts
from stepgrid.model.number_format import size

_OPTION = "compaction_readahead_size"
_LIMIT = "hardware.storage.max_sectors_kb"
_PREFETCHES = (8, 5)  # from here on compaction asks the kernel: for the readahead and a block
_RAISED = ((5, 3), (8, 6, 1))  # between them RocksDB makes 2 MiB of 0 where reads are direct
_EXPRESSION = f'`{_OPTION}: "{{{{ hardware.storage.max_sectors_kb * 1024 - options.block_size }}}}"`'


def _over(facts: Facts) -> Verdict | None:
    if facts["release"] < _PREFETCHES or facts.is_on("use_direct_reads") or facts["benchmark"] in READ_ONLY:
        return None
    if not facts.given(_OPTION) and not facts["hardware.declared"]:
        return None  # the release's default on whatever host this is: nothing that the spec says
    limit = max(facts.amount(_LIMIT, 0) * 1024 - facts.amount("block_size", 4096), 0)
    readahead = facts.amount(_OPTION, compaction_readahead(facts["release"]))
    if readahead <= limit:
        return None
    than = f"the device's max_sectors_kb less a block ({size(limit)})"
    message = f"a compaction readahead of {size(readahead)} is more than {than}: the kernel reads block by block"
    return Verdict(_OPTION if facts.given(_OPTION) else "build", message, f"{_EXPRESSION} (rocksdb issue 12038)")


def _direct(facts: Facts) -> Verdict | None:
    if not facts.is_on("use_direct_reads") or facts["benchmark"] in READ_ONLY:
        return None
    if facts.amount(_OPTION, compaction_readahead(facts["release"])) > 0:
        return None
    if _RAISED[0] <= facts["release"] < _RAISED[1]:
        return None
    at = _OPTION if facts.given(_OPTION) else "use_direct_reads"
    message = "direct reads with a compaction readahead of 0: compaction reads block by block, the kernel does not help"
    return Verdict(at, message, f"`{_OPTION}: 2MiB`, which RocksDB itself made of 0 before 8.6.1")


def _own_default(facts: Facts) -> Verdict | None:
    release = facts["release"]
    if facts.given(_OPTION) or not _RAISED[1] <= release < FOLLOWS_LIBRARY or facts["benchmark"] in READ_ONLY:
        return None
    message = "db_bench 8.6 sets a compaction readahead of 0 where RocksDB 8.6 itself has 2 MiB"
    return Verdict("build", message, f"say it: `{_OPTION}: 2MiB`")


RULES = (
    Rule("readahead-over-max-sectors", "a compaction readahead that the device's queue cuts into blocks",
         each_step((_OPTION, "use_direct_reads", "block_size", "benchmark", "hardware.declared"), _over,
                   ("release", _LIMIT))),
    Rule("direct-readahead-zero", "direct reads without a compaction readahead",
         each_step((_OPTION, "benchmark"), _direct, ("use_direct_reads", "release"))),
    Rule("readahead-default-zero", "db_bench 8.6's own default of no compaction readahead",
         each_step((_OPTION, "benchmark"), _own_default, ("release",))),
)  # fmt: skip
