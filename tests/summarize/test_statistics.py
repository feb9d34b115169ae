import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from compiler.summarize.statistics import Sample, intervals, ratio, sample
from compiler.summarize.verdicts import FASTER, SLOWER, verdict

POSITIVE = st.floats(1e-3, 1e9)
LOADS = st.dictionaries(st.integers(0, 5), st.lists(POSITIVE, min_size=1, max_size=3), min_size=2, max_size=5)


def test_one_comparison_is_the_paired_t_interval():
    arm, base = [105.0, 111.0, 120.0, 99.0], [100.0, 104.0, 109.0, 98.0]
    [found] = intervals([sample(dict(enumerate([v] for v in arm)), dict(enumerate([v] for v in base)))])
    expected = stats.ttest_rel(np.log(arm), np.log(base)).confidence_interval(0.95)
    assert math.log(found.low) == pytest.approx(expected.low)
    assert math.log(found.high) == pytest.approx(expected.high)
    assert found.ratio == pytest.approx(stats.gmean(np.divide(arm, base)))
    assert found.loads == 4


def test_a_table_is_corrected_and_pools_its_noise():
    logs = [(0.10, 0.14, 0.12), (0.0, 0.05, 0.01), (-0.2, -0.17, -0.22)]
    found = intervals([Sample(each, number) for number, each in enumerate(logs)])
    pooled = np.mean([np.var(each, ddof=1) for each in logs])
    for each, got in zip(logs, found, strict=True):
        noise = max(pooled, np.var(each, ddof=1))
        half = stats.t.ppf(1 - 0.025 / 3, 6) * math.sqrt(noise / 3)
        assert math.log(got.high) == pytest.approx(np.mean(each) + half)


def test_a_much_noisier_comparison_keeps_its_own_noise():
    quiet = [Sample((0.0, 0.01, -0.01), number) for number in range(3)]
    wild = Sample((0.5, -0.4, 0.1), 3)
    found = intervals([*quiet, wild])[3]
    half = stats.t.ppf(1 - 0.025 / 4, 2) * math.sqrt(np.var(wild.logs, ddof=1) / 3)
    assert math.log(found.high) == pytest.approx(np.mean(wild.logs) + half)


def test_arms_of_one_base_count_for_less_than_independent_ones():
    logs = [(0.0, 0.05, -0.05), (0.02, 0.06, -0.04), (0.01, 0.05, -0.06)]
    alone = intervals([Sample(each, number) for number, each in enumerate(logs)])
    shared = intervals([Sample(each, "base") for each in logs])
    assert all(one.high < other.high for one, other in zip(alone, shared, strict=True))


def test_the_runs_of_a_load_are_averaged_first():
    many = sample({0: [100.0, 400.0], 1: [50.0]}, {0: [100.0], 1: [50.0, 50.0]})
    assert many.logs == pytest.approx((math.log(2), 0.0))


def test_only_loads_that_both_have_are_paired():
    assert sample({0: [2.0], 1: [8.0]}, {1: [4.0], 2: [1.0]}).logs == pytest.approx((math.log(2),))


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan])
def test_a_figure_without_a_logarithm_leaves_its_load_out(bad):
    assert sample({0: [bad], 1: [2.0]}, {0: [1.0], 1: [1.0]}).logs == pytest.approx((math.log(2),))


def test_one_load_has_a_ratio_and_no_interval():
    one = sample({0: [110.0]}, {0: [100.0]})
    assert intervals([one]) == [None]
    assert ratio(one) == pytest.approx(1.1)
    assert ratio(Sample(())) is None


def test_loads_that_agree_to_the_digit():
    [found] = intervals([sample({0: [110.0], 1: [110.0]}, {0: [100.0], 1: [100.0]})])
    assert (found.low, found.high) == (pytest.approx(1.1), pytest.approx(1.1))


@given(LOADS, LOADS)
def test_exchanging_the_arms_turns_the_interval_round(arm, base):
    there, back = intervals([sample(arm, base)])[0], intervals([sample(base, arm)])[0]
    assert (there is None) == (back is None)
    if there and back and max(there.high, back.high) < 1e300:
        assert there.low * back.high == pytest.approx(1)
        assert there.low <= there.ratio <= there.high


def _tables(noise, loads, tables, shift=0.0, shared=False, seed=11):
    """Verdicts of simulated tables: one comparison per entry of `noise`, both arms alike but for the shift."""
    generator = np.random.default_rng(seed)
    for _ in range(tables):
        common = generator.normal(0, noise[0], loads)
        samples = []
        for number, scale in enumerate(noise):
            base = common if shared else generator.normal(0, scale, loads)
            arm = generator.normal(0, scale, loads) + (shift if number == 0 else 0)
            pairs = ({load: [1e4 * math.exp(v)] for load, v in enumerate(logs)} for logs in (arm, base))
            samples.append(sample(*pairs, "base" if shared else number))
        yield [verdict(found.low, found.high, 0.02) for found in intervals(samples)]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "noise",
    [(0.05,), (0.05,) * 4, (0.05,) * 12, (0.2,) * 6, (0.02,) * 9 + (0.1,), (0.03,) * 5 + (0.1,)],
    ids=["one", "four", "twelve", "six wild", "one wild of ten", "one noisy of six"],
)
def test_equal_arms_get_no_difference(noise, shared):
    wrong = sum(bool({FASTER, SLOWER} & set(words)) for words in _tables(noise, 3, 600, shared=shared))
    assert wrong / 600 <= 0.05


def test_a_few_wild_arms_in_a_large_table_do_little_harm():
    """The hardest case known: most of the table is alike, so the wild ones are taken for calmer than they are."""
    noise = (0.02,) * 36 + (0.1,) * 4
    wrong = sum(bool({FASTER, SLOWER} & set(words)) for words in _tables(noise, 3, 200))
    assert wrong / 200 <= 0.08


@pytest.mark.parametrize("comparisons", [1, 4, 12, 40])
def test_a_slowdown_of_thirty_percent_is_found_in_three_loads(comparisons):
    found = [words[0] for words in _tables((0.05,) * comparisons, 3, 300, shift=math.log(0.7))]
    assert found.count(SLOWER) / len(found) >= 0.85
    assert FASTER not in found


def test_intervals_of_one_comparison_cover_as_they_say():
    generator = np.random.default_rng(5)
    found = [intervals([Sample(tuple(generator.normal(0.1, 0.05, 3)))])[0] for _ in range(2000)]
    covered = np.mean([each.low <= math.exp(0.1) <= each.high for each in found])
    assert 0.94 <= covered <= 0.96
