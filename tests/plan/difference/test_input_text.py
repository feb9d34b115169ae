from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plan import difference
from stepgrid.plan.difference import UNSET, Input
from stepgrid.summarize.comparisons import build_quality
from stepgrid.summarize.notes.step_settings import _value


def test_an_input_as_a_line() -> None:
    assert (
        difference.input_text(Input("options.cache_size", 8 << 20, 16 << 20)) == "options.cache_size: 8 MiB -> 16 MiB"
    )
    assert (
        difference.input_text(Input("params.flags", UNSET, [1, True, None]))
        == "params.flags: not set -> [1, true, null]"
    )


def test_what_is_no_size_has_no_unit_of_one() -> None:
    """delete_obsolete_files_period_micros of the published scripts is 60 times 2^20."""
    named = {
        name: difference.value_text(60 * 2**20, difference.may_be_size(f"options.{name}"))
        for name in ("period_micros", "compaction_sequential_deletes_window", "size")
    }
    assert named == {
        "period_micros": "62914560",
        "compaction_sequential_deletes_window": "62914560",
        "size": "60 MiB",
    }


WORDS = st.from_regex(r"[a-z]{1,5}( [a-z]{1,5})?", fullmatch=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_no_value_is_shown_as_python_has_it(setting: Any) -> None:
    """In the reasons of a plan, under what the steps do, in `explain`, of a build's facts."""
    line = difference.input_text(Input("params.metrics", UNSET, setting))
    for text in (line, _value("metrics", setting, None), difference.yaml_text(setting), build_quality.said(setting)):
        assert not re.search(r"'|None|True|False", text)


def test_a_setting_with_parts_is_shown_as_the_spec_has_it() -> None:
    metrics = {"qps": {"pattern": "per second: ([0-9.]+)", "json": None, "required": True}}
    shown = '{qps: {pattern: "per second: ([0-9.]+)", required: true}}'
    assert difference.input_text(Input("params.metrics", UNSET, metrics)) == f"params.metrics: not set -> {shown}"
    assert difference.value_text([metrics]) == f"[{shown}]"
