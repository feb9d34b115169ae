from __future__ import annotations

from stepgrid.plan.difference import input_text
from stepgrid.plan.difference.stage_difference import Input
from stepgrid.plan.difference.unset import UNSET


def test_an_input_as_a_line() -> None:
    assert input_text.line(Input("options.cache_size", 8 << 20, 16 << 20)) == "options.cache_size: 8 MiB -> 16 MiB"
    assert input_text.line(Input("params.flags", UNSET, [1, True, None])) == "params.flags: not set -> [1, true, null]"


def test_what_is_no_size_has_no_unit_of_one() -> None:
    """delete_obsolete_files_period_micros of the published scripts is 60 times 2^20."""
    named = {
        name: input_text.value(60 * 2**20, input_text.may_be_size(f"options.{name}"))
        for name in ("period_micros", "compaction_sequential_deletes_window", "size")
    }
    assert named == {
        "period_micros": "62914560",
        "compaction_sequential_deletes_window": "62914560",
        "size": "60 MiB",
    }
