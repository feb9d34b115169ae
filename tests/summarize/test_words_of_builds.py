"""A build's facts in words."""

import pytest

from stepgrid.summarize.comparisons.build_quality import said


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unknown"),
        (True, "yes"),
        (False, "no"),
        ({}, "none"),
        ([], "none"),
        ({"lto": True, "march": None}, "lto yes, march unknown"),
        (["a", 1], "a, 1"),
        (0, "0"),
    ],
)
def test_facts(value: object, text: str) -> None:
    assert said(value) == text
