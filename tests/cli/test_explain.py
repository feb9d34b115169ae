"""`stepgrid explain`: where each setting of a step comes from."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stepgrid.language.problems import Problems
from stepgrid.language.yaml import load
from stepgrid.plan.difference import yaml_text

pytestmark = pytest.mark.usefixtures("folder")
SPEC = """\
title: t
define:
  workloads:
    reads:
      - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], duration: 1m}
builds:
  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {debian: rocksdb-tools, suite: x}, params: {writes: 7}}
options: [{block_size: 8KiB, open_files: -1}, {cache_low_pri_pool_ratio: {value: 0, when_unsupported: drop}}]
workload: reads
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}, {use: readww, as: ww, reads: 131072}]
params: {keys: 200k}
sweep: {threads: [1, 2], data: {small: {options: {bloom_bits: 10}}, large: {params: {write_rate: 2MiB}}}}
allow:
  defaults-differ: a test
  keys-not-loaded: a test
  load-capped: a test
  load-not-drained: a test
  load-slowed: a test
  no-repeats: a test
  rows-few: a test
  writer-unlimited: a test
"""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"qps": {"pattern": "a: (\\d+)", "json": None}}, '{qps: {pattern: "a: (\\\\d+)"}}'),
        (["fillseq", "- a", "%x", "a b", "", "a,b", "x:"], '[fillseq, "- a", "%x", a b, "", "a,b", "x:"]'),
        ([1, True, None, 0.5], "[1, true, null, 0.5]"),
    ],
)
def test_values_are_yaml(value: Any, text: str) -> None:
    assert yaml_text(value) == text


@example(["0:0", "http://x"])
@example(["NULL", "true", "0x10", "1e3", ".inf", "12", "8KiB"])
@given(st.lists(st.text(st.characters(categories=("L", "N", "P", "Zs"), max_codepoint=0x2000)), max_size=5))
def test_words_read_back_as_they_are(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    path = tmp_path_factory.mktemp("yaml") / "a.yaml"
    path.write_text(f"words: {yaml_text(words)}\n", encoding="utf-8")
    problems = Problems()
    found = load(str(path), problems)
    assert found is not None, problems.items
    assert [str(word) for word in found["words"]] == words  # type: ignore[union-attr]
