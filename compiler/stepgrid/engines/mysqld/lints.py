"""The window of sequential deletes by which MyRocks starts a compaction, and caches larger than the memory."""

from __future__ import annotations

from stepgrid.lint.rule import Rule
from stepgrid.lint.step_limits import cache_over_memory
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts

_DELETES = "rocksdb_compaction_sequential_deletes"
_WINDOW = f"{_DELETES}_window"


def _sequential(facts: Facts) -> Verdict | None:
    deletes, window = facts.amount(_DELETES, 0), facts.amount(_WINDOW, 0)
    if deletes <= 0 or deletes < window:
        return None
    if window <= 0:
        message = f"`{_DELETES}` does nothing: its window is 0"
        return Verdict(_DELETES, message, f"add `{_WINDOW}: {deletes + 1:.0f}`")
    message = (
        f"{deletes:,.0f} sequential deletes in a window of {window:,.0f} keys: the number must be below the window"
    )
    return Verdict(_DELETES, message, f"`{_DELETES}: {window - 1:.0f}`")


RULES = (
    Rule(
        "sequential-deletes", "as many deletes as the window has keys", each_step((_WINDOW,), _sequential, (_DELETES,))
    ),
    cache_over_memory("innodb_buffer_pool_size", "rocksdb_block_cache_size"),
)
