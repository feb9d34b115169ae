from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.comparisons import multiple_comparisons
from stepgrid.summarize.comparisons.comparison import RATIO, ComparedMetric, Comparison, Entry, Row
from stepgrid.summarize.comparisons.comparison_axes import Layout
from stepgrid.summarize.comparisons.multiple_comparisons import sentences
from stepgrid.summarize.statistics.confidence_intervals import Interval


def table(*ratios, verdict="faster", caveat=None):
    """Each ratio by itself, found with 4 degrees of freedom and an error of 1 %."""
    intervals = [Interval(ratio, ratio / 1.03, ratio * 1.03, 5, (), 0.01 * 5**0.5, 4, 3.0) for ratio in ratios]
    entries = [Entry(RATIO, None, each, each.ratio, verdict, caveat) for each in intervals]
    layout = Layout({"arm": "base"}, ("arm",), ())
    return Comparison(ComparedMetric(), layout, (("base",),), (Row("readww", (), tuple(entries)),))


EQUAL = [table(1.0, 1.0, 1.0, 1.0, verdict="inconclusive") for _ in range(10)]


def test_one_weak_difference_among_many_comparisons_is_told():
    assert list(sentences([table(1.055), *EQUAL], 0.02)) == [
        "1 of the 1 differences may be chance: if the 41 comparisons of all tables were judged together and not table "
        "by table, 1 would be inconclusive"
    ]


def test_a_clear_one_stands_among_them():
    assert list(sentences([table(1.5), *EQUAL], 0.02)) == []


def test_one_table_holds_together_by_itself():
    assert list(sentences([table(1.055)], 0.02)) == []


def test_ratios_without_a_verdict_do_not_count():
    assert list(sentences([table(1.055, caveat="made otherwise"), *EQUAL], 0.02)) == []


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.5]), min_size=1))
def test_as_scipy_adjusts_them(chances):
    from scipy.stats import false_discovery_control

    assert multiple_comparisons._adjusted(chances) == [float(each) for each in false_discovery_control(chances)]
