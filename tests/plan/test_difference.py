"""Inputs that differ between two stages: builds, steps, setups; and values as a spec writes them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plan import difference
from stepgrid.plan.difference import UNSET, ChangedInput, Link, input_text, value_text, yaml_text
from stepgrid.summarize.comparisons import builds
from stepgrid.summarize.setup import _setting

SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, version: 7.8.3, source: {debian: rocksdb-tools, suite: sid}}}
options: [{cache_size: 1GiB, bloom_bits: 10}]
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], duration: 1m}
params: {keys: 200k}
"""


def chain(plan):
    stages = {stage.id: stage for stage in plan.stages}
    builds = {build.id: build for build in plan.builds}
    return [Link.of(stages[node], builds.__getitem__) for node in plan.cells[0].repeats[0].stages]


def named(inputs):
    return [(entry.field, entry.old, entry.new) for entry in inputs]


# Values


def test_an_input_as_a_line():
    assert input_text(ChangedInput("options.cache_size", 8 << 20, 16 << 20)) == "options.cache_size: 8 MiB -> 16 MiB"
    assert (
        input_text(ChangedInput("params.flags", UNSET, [1, True, None])) == "params.flags: not set -> [1, true, null]"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [("period_micros", "62914560"), ("compaction_sequential_deletes_window", "62914560"), ("size", "60 MiB")],
)
def test_what_is_no_size_has_no_unit_of_one(name, text):
    """delete_obsolete_files_period_micros of the published scripts is 60 times 2^20."""
    assert value_text(60 * 2**20, difference.may_be_size(f"options.{name}")) == text


WORDS = st.from_regex(r"[a-z]{1,5}( [a-z]{1,5})?", fullmatch=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_no_value_is_shown_as_python_has_it(setting):
    """In the reasons of a plan, under what the steps do, in `explain`, of a build's facts."""
    line = input_text(ChangedInput("params.metrics", UNSET, setting))
    for text in (line, _setting("metrics", [setting], None), yaml_text(setting), builds.value_text(setting)):
        assert not re.search(r"'|None|True|False", text)


def test_a_setting_with_parts_is_shown_as_the_spec_has_it():
    metrics = {"qps": {"pattern": "per second: ([0-9.]+)", "json": None, "required": True}}
    shown = '{qps: {pattern: "per second: ([0-9.]+)", required: true}}'
    assert input_text(ChangedInput("params.metrics", UNSET, metrics)) == f"params.metrics: not set -> {shown}"
    assert value_text([metrics]) == f"[{shown}]"
