import pytest

from stepgrid.lint.rule import Facts, size


@pytest.mark.parametrize(
    ("said", "expected"),
    [("90G", 90 * 2**30), ("96GB", 96 * 2**30), ("4096", 4096), ("1.5MiB", 1.5 * 2**20), ("many", None), ("", None)],
)
def test_an_engines_own_sizes(said, expected):
    assert size(said) == expected


@pytest.mark.parametrize(("value", "expected"), [(True, True), (1, True), ("on", True), (False, False), (0, False)])
def test_a_switch(value, expected):
    assert Facts({"switch": value}).is_on("switch") is expected


def test_what_is_not_given_is_its_default():
    facts = Facts({"switch": None, "size": None})
    assert facts.is_on("switch", default=True)
    assert facts.amount("size", 7) == 7
    assert not facts.has("size")


@pytest.mark.parametrize("value", [10**400, -(2**70), "9999999999999G"])
def test_a_number_that_no_option_has_is_none(value):
    assert Facts({"size": value}).number("size") is None


def test_a_rule_sees_only_what_it_declared():
    with pytest.raises(KeyError):
        Facts({"a": 1})["b"]
