"""The shape of the tree: sizes and triggers of the first levels."""

from __future__ import annotations

from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts
from stepgrid.model.number_format import exact_size, size

_SIZES = ("write_buffer_size", "level0_file_num_compaction_trigger", "max_bytes_for_level_base")
_MERGE = "min_write_buffer_number_to_merge"
_TRIGGERS = ("level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger", "level0_stop_writes_trigger")
_TRIGGER_DEFAULTS = (4, 20, 36)
_UNIVERSAL = 1


def _first_levels(facts: Facts) -> Verdict | None:
    given = [name for name in _SIZES if facts.given(name)]
    if facts["kind"] != "db_bench" or not given or facts.amount("compaction_style", 0) != 0:
        return None
    files = facts.amount("level0_file_num_compaction_trigger", 4)
    buffer = facts.amount("write_buffer_size", 64 * 2**20) * max(1, facts.amount(_MERGE, 1))
    target = facts.amount("max_bytes_for_level_base", 256 * 2**20)
    if files * buffer <= target:
        return None
    sizes = f"{files:.0f} x {size(buffer)} = {size(files * buffer)}"
    message = f"L0 holds {sizes} when its compaction starts, more than L1's target of {size(target)}"
    return Verdict(
        given[0], message, f"`max_bytes_for_level_base: {_written(files * buffer)}`, or smaller write buffers"
    )


def _triggers(facts: Facts) -> Verdict | None:
    given = [name for name in _TRIGGERS if facts.given(name)]
    values = [facts.amount(name, default) for name, default in zip(_TRIGGERS, _TRIGGER_DEFAULTS, strict=True)]
    if facts["kind"] != "db_bench" or not given or values == sorted(values):
        return None
    numbers = ", ".join(f"{value:.0f}" for value in values)
    message = f"the L0 triggers for compaction, slowdown and stop are {numbers}: RocksDB changes them so that they rise"
    return Verdict(given[-1], message, "level0_file_num_compaction_trigger ≤ level0_slowdown_… ≤ level0_stop_…")


def _universal_wait(facts: Facts) -> Verdict | None:
    benchmarks = facts["step.benchmarks"]
    if facts.amount("compaction_style", 0) != _UNIVERSAL or "waitforcompaction" not in benchmarks:
        return None
    if facts["release"] >= (8, 7):
        return None
    message = f"step `{facts['step']}` may hang: waitforcompaction under universal compaction before RocksDB 8.7"
    hint = "`{when: \"has('waitforcompaction_universal')\", value: waitforcompaction}` (rocksdb issue 9275)"
    return Verdict("step", message, hint)


def _written(amount: float) -> str:
    return exact_size(round(amount)).replace(" ", "")


RULES = (
    Rule("l0-larger-than-l1", "L0 grows larger than L1's target before it is compacted",
         each_step((*_SIZES, _MERGE, "compaction_style"), _first_levels, ("kind",))),
    Rule("l0-triggers-order", "L0 triggers that do not rise", each_step(_TRIGGERS, _triggers, ("kind",))),
    Rule("universal-wait-hangs", "waiting for universal compaction that may never look finished",
         each_step(("step", "compaction_style"), _universal_wait, ("step.benchmarks", "release"))),
)  # fmt: skip
