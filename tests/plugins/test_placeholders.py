"""Which words hold a placeholder that there is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plugins.driver import PLACEHOLDERS, SERVER_PLACEHOLDERS, misplaced_placeholder, unknown_placeholders


@pytest.mark.parametrize(
    "word",
    [
        "%{http_code}",
        '{"a": 1}',
        "x{a,b}",
        "${HOME}",
        "{}",
        "{ print }",
        "{print $1}",
        "@{u}",
        "#{x}",
        "{0}",
        "a b {c}",
    ],
)
def test_braces_of_other_programs_are_left_alone(word: str) -> None:
    assert list(unknown_placeholders(word, PLACEHOLDERS)) == []


@given(st.lists(st.sampled_from(["{data}", "{folder}", "{seed}", "-x", "=", " "])).map("".join))
def test_what_is_filled_in_is_known(word: str) -> None:
    assert list(unknown_placeholders(word, PLACEHOLDERS)) == []
    assert misplaced_placeholder([word]) is None


@pytest.mark.parametrize(
    ("name", "known"), [("options", PLACEHOLDERS), ("program:x", PLACEHOLDERS), ("socket", SERVER_PLACEHOLDERS)]
)
def test_those_that_stand_alone_are_known(name: str, known: tuple[str, ...]) -> None:
    assert list(unknown_placeholders(f"{{{name}}}", known)) == []


def test_each_of_a_word_is_said() -> None:
    assert [placeholder for placeholder, _ in unknown_placeholders("{dta}/{fodler}/{seed}", PLACEHOLDERS)] == [
        "{dta}",
        "{fodler}",
    ]
    assert [placeholder for placeholder, _ in unknown_placeholders("{program} {program:}", PLACEHOLDERS)] == [
        "{program}",
        "{program:}",
    ]
