import pytest

from stepgrid.summarize.comparisons.comparison_cell import RATIO, Entry
from stepgrid.summarize.comparisons.comparison_verdict import INSIDE, Evidence, judged
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.outliers import Outlier

POINT = Point("readww", {}, ())


def entry(low, high):
    middle = (low * high) ** 0.5
    return Entry(RATIO, POINT, Interval(middle, low, high, 3, 0.01, 2), middle)


def word(found, floor=None, caveat=None, marks=(), odd=()):
    evidence = Evidence({}, 0.02, lambda _, __: caveat, lambda _, __: floor, lambda _, __: marks)
    return judged(found, POINT, POINT, evidence, odd)


def test_a_difference_beyond_the_floor_stands():
    found = word(entry(1.05, 1.07), floor=0.03)
    assert (found.verdict, found.floor, found.doubts) == ("faster", 0.03, ())


@pytest.mark.parametrize(("low", "high"), [(1.05, 1.07), (0.93, 0.95)])
def test_a_difference_within_the_floor_is_none(low, high):
    found = word(entry(low, high), floor=0.08)
    assert (found.verdict, found.doubts) == ("inconclusive", (INSIDE,))


def test_the_floor_does_not_touch_what_is_the_same():
    assert word(entry(0.99, 1.01), floor=0.5).verdict == "same"


def test_what_else_is_to_be_known_is_kept_beside_the_ratio():
    found = word(entry(1.05, 1.07), marks=("kernel 6.1 / 6.12",), odd=(Outlier(4, 9.0, 2.0, 1.01),))
    assert found.verdict == "faster"
    assert found.doubts == ("kernel 6.1 / 6.12", "load 4 lies far from the others (2.00x); without it 1.01x")


def test_a_caveat_takes_the_word_and_leaves_the_rest():
    found = word(entry(1.05, 1.07), floor=0.01, caveat="made otherwise")
    assert (found.verdict, found.caveat, found.floor) == (None, "made otherwise", 0.01)


def test_a_load_without_its_like_has_no_ratio():
    assert word(Entry(RATIO, POINT)).kind == "no base"
