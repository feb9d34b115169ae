"""Values of a spec, as `explain` and `plan` write them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stepgrid.language.problems import Problems
from stepgrid.language.yaml import load
from stepgrid.plan.difference import yaml_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"qps": {"pattern": "a: (\\d+)", "json": None}}, '{qps: {pattern: "a: (\\\\d+)"}}'),
        (["fillseq", "- a", "%x", "a b", "", "a,b", "x:"], '[fillseq, "- a", "%x", a b, "", "a,b", "x:"]'),
        ([1, True, None, 0.5], "[1, true, null, 0.5]"),
    ],
)
def test_values_are_yaml(value, text):
    assert yaml_text(value) == text


@example(["0:0", "http://x"])
@example(["NULL", "true", "0x10", "1e3", ".inf", "12", "8KiB"])
@given(st.lists(st.text(st.characters(categories=("L", "N", "P", "Zs"), max_codepoint=0x2000)), max_size=5))
def test_words_read_back_as_they_are(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("yaml") / "a.yaml"
    path.write_text(f"words: {yaml_text(words)}\n", encoding="utf-8")
    problems = Problems()
    found = load(str(path), problems)
    assert found is not None, problems.items
    assert [str(word) for word in found["words"]] == words
