from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.drivers.db_bench.parser.dump import stalls

OLD = (
    "Stalls(count): {l0d} level0_slowdown, {cd} level0_slowdown_with_compaction, {l0s} level0_numfiles, "
    "{cs} level0_numfiles_with_compaction, {ps} stop for pending_compaction_bytes, "
    "{pd} slowdown for pending_compaction_bytes, {ms} memtable_compaction, {md} memtable_slowdown, "
    "interval 7 total count"
)
NEW = (
    "Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: {cd}, "
    "cf-l0-file-count-limit-stops-with-ongoing-compaction: {cs}, l0-file-count-limit-delays: {l0d}, "
    "l0-file-count-limit-stops: {l0s}, memtable-limit-delays: {md}, memtable-limit-stops: {ms}, "
    "pending-compaction-bytes-delays: {pd}, pending-compaction-bytes-stops: {ps}, total-delays: {td}, "
    "total-stops: {ts}"
)
counters = st.fixed_dictionaries(
    {name: st.integers(0, 10**9) for name in ("l0d", "cd", "l0s", "cs", "ps", "pd", "ms", "md")}
)


def _new(given: dict[str, int]) -> str:
    total = {"td": given["l0d"] + given["md"] + given["pd"], "ts": given["l0s"] + given["ms"] + given["ps"]}
    return NEW.format(**given, **total)


@given(counters)
def test_both_forms_give_the_same_figures(given: dict[str, int]) -> None:
    old, new = stalls.figures(OLD.format(**given)), stalls.figures(_new(given))
    assert old == new
    assert old["stall_memtable_stops"] == given["ms"]
    assert old["stall_pending_delays"] == given["pd"]
    assert old["stalls"] == sum(given[name] for name in ("l0d", "l0s", "ms", "md", "pd", "ps"))


@pytest.mark.parametrize(
    ("l0", "memtable", "pending", "total"),
    [(1429, 0, 1131, 2560), (285, 0, 12585, 12870), (5, 22, 0, 27), (287, 0, 687, 974)],
)
def test_published_sums(l0: int, memtable: int, pending: int, total: int) -> None:
    given = {"l0d": l0, "md": memtable, "pd": pending, "cd": l0, "l0s": 0, "cs": 0, "ps": 0, "ms": 0}
    assert stalls.figures(_new(given))["stall_delays"] == total
    assert f"total-delays: {total}," in _new(given)


def test_lines_of_8_1_run_on_into_what_follows() -> None:
    """Its source ends each counter with a comma, and the line with nothing."""
    given = dict.fromkeys(("cd", "l0s", "cs", "ps", "pd", "ms", "md"), 0) | {"l0d": 3}
    text = f"{_new(given)}, interval: 3 total count\n** DB Stats **\n"
    text += "Write Stall (count): write-buffer-manager-limit-stops: 4, Block cache LRUCache@0x1#2 capacity: 8.00 MB\n"
    found = stalls.figures(text)
    assert found["stall_l0_delays"] == 3
    assert found["stall_write_buffer_manager_stops"] == 4
    assert found["stalls"] == 3


def test_the_last_dump_counts() -> None:
    zero = dict.fromkeys(("l0d", "cd", "l0s", "cs", "ps", "pd", "ms", "md"), 0)
    late = zero | {"ms": 5}
    assert stalls.figures("\n".join([OLD.format(**zero), OLD.format(**late)]))["stalls"] == 5
    assert stalls.figures("\n".join([_new(zero), _new(late)]))["stalls"] == 5


def test_a_cut_line_gives_no_total() -> None:
    given = dict.fromkeys(("l0d", "cd", "l0s", "cs", "ps", "pd", "ms", "md"), 9)
    assert stalls.figures(OLD.format(**given)[:200]) == {}
    cut = _new(given)[:250]
    assert {"stalls", "stall_stops", "stall_delays"}.isdisjoint(stalls.figures(cut))


def test_a_damaged_count_is_missing() -> None:
    line = "Stalls(count): nan level0_slowdown, 3 level0_numfiles, x7 memtable_slowdown,, interval 0 total count\n"
    assert stalls.figures(line) == {"stall_l0_stops": 3}


def test_time_in_stalls() -> None:
    text = "Cumulative stall: 00:00:0.000 H:M:S, 0.0 percent\nInterval stall: 09:09:9.000 H:M:S, 9.0 percent\n"
    last = "Cumulative stall: 01:02:3.500 H:M:S, 12.5 percent\n"
    assert stalls.figures(text) == {"stall_seconds": 0, "stall_pct": 0}
    assert stalls.figures(text + last) == {"stall_seconds": 3723.5, "stall_pct": 12.5}


def test_nothing_printed_nothing_said() -> None:
    assert stalls.figures("") == {}
