from __future__ import annotations

import pytest

from stepgrid_importers.shared import awk


@pytest.mark.parametrize(
    ("word", "value"), [("85.19,", 85.19), ("19K", 19), ("-1.5e3x", -1500), ("NA", 0), ("", 0), (".5", 0.5)]
)
def test_a_word_is_the_number_that_it_begins_with(word: str, value: float) -> None:
    assert awk.number(word) == value


def test_words_are_counted_from_one() -> None:
    assert [awk.field(" Sum  4/0\t98.44 MB", position) for position in (1, 3, 4, 5, 0)] == [
        "Sum",
        "98.44",
        "MB",
        "",
        "",
    ]


def test_print_keeps_integers_and_six_digits() -> None:
    assert [awk.plain(value) for value in (627197.0, 78684.33333, 12345678.0)] == ["627197", "78684.3", "12345678"]
