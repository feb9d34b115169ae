from hypothesis import given
from hypothesis import strategies as st

from stepgrid.language.scalars import Version

VERSIONS = st.lists(st.integers(0, 30), min_size=1, max_size=4)


def test_a_version_is_no_decimal_number():
    assert Version("9.10") > "9.9"
    assert Version("9.10") != "9.1"
    assert Version("8.0.31") >= "8.0.4"
    assert Version("7.4") == "7.4.0"
    assert Version("9.0-rc1") < "9.0"
    assert str(Version("9.10")) == "9.10"


@given(VERSIONS, VERSIONS)
def test_order_is_that_of_the_numbers(left, right):
    size = max(len(left), len(right))
    a, b = ([*parts, *[0] * (size - len(parts))] for parts in (left, right))
    x, y = (".".join(map(str, parts)) for parts in (left, right))
    assert (Version(x) < y, Version(x) == y, Version(x) > y) == (a < b, a == b, a > b)
