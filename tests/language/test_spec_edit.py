import pytest

from stepgrid.language.spec_file import get_value, replace_value, set_key

TEXT = """\
title: t
params: {keys: 1M, duration: 30s}   # as in the article
repeat: 3  # loads
report: {base: {cache: lru}}
"""


def test_a_value_is_replaced_and_all_else_stays() -> None:
    assert replace_value(TEXT, ("repeat",), "{loads: 5, runs: 2}") == TEXT.replace(
        "repeat: 3", "repeat: {loads: 5, runs: 2}"
    )
    assert replace_value(TEXT, ("params", "duration"), "60s") == TEXT.replace("30s", "60s")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("repeat: {loads: 3, runs: 2}\nseed: 1\n", "repeat: 5\nseed: 1\n"),
        ("repeat:\n  loads: 3\n  runs: 2\nseed: 1\n", "repeat:\n  5\nseed: 1\n"),
        ("seed: 1\n", "seed: 1\nrepeat: 5\n"),
    ],
)
def test_every_form(before: str, after: str) -> None:
    assert set_key(before, "repeat", "5") == after


def test_what_is_not_there() -> None:
    assert get_value(TEXT, ("params", "duration")) == "30s"
    assert get_value(TEXT, ("params",)) is None
    assert get_value(TEXT, ("params", "rate")) is None
    assert replace_value(TEXT, ("params", "rate"), "1") is None
