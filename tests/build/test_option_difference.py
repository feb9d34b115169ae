"""What two catalogues differ in."""

import pytest

from stepgrid.build.option_difference import differences, same


def info(kind: str, default: str) -> dict[str, str]:
    return {"type": kind, "default": default, "help": default}


def test_by_kind_and_name():
    one = {"z": info("int32", "1"), "b": info("int32", "1"), "gone": info("bool", "true"), "t": info("int32", "1")}
    other = {"z": info("int64", "2"), "b": info("int32", "2"), "new": info("bool", "true"), "t": info("int64", "1")}
    found = differences(one, other)
    assert [(each.option, each.kind) for each in found] == [
        ("b", "default"),
        ("z", "default"),
        ("t", "type"),
        ("gone", "only-first"),
        ("new", "only-second"),
    ]
    assert [each.help for each in found] == ["2", "2", "1", "true", "true"]


@pytest.mark.parametrize(
    ("one", "other"), [("0.5", "0.500000"), ("ON", "true"), ("off", "FALSE"), ("1048576", "1048576"), ("", "")]
)
def test_one_value_in_two_spellings(one: str, other: str):
    assert same(one, other)


@pytest.mark.parametrize(("one", "other"), [("", "0"), ("on", "off"), ("lru_cache", "hyper_clock_cache"), ("1", "2")])
def test_two_values(one: str, other: str):
    assert not same(one, other)
