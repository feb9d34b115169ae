import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from stepgrid.summarize.statistics.confidence_intervals import (
    Interval,
    Sample,
    chance,
    critical,
    criticals,
    intervals,
    ratio,
    sample,
    table_intervals,
)
from stepgrid.summarize.statistics.variance import Spreads, moderated
from stepgrid.summarize.statistics.verdicts import FASTER, SAME, SLOWER, verdict

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


def test_the_intervals_of_a_table_are_dunnetts_with_moderated_variances():
    logs = [(0.10, 0.14, 0.12), (0.0, 0.05, 0.01), (-0.2, -0.17, -0.22)]
    found = intervals([Sample(each, "base") for each in logs])
    numbers = np.zeros(3, int)
    noise = moderated(Spreads(np.var(logs, axis=1, ddof=1), np.full(3, 2.0), numbers, numbers))
    reach = criticals([3], noise.freedom, noise.common, 0.05) * np.sqrt(noise.variance / 3)
    assert [math.log(each.high) for each in found] == pytest.approx(np.mean(logs, axis=1) + reach)
    assert [math.log(each.low) for each in found] == pytest.approx(np.mean(logs, axis=1) - reach)
    assert [each.freedom for each in found] == pytest.approx(noise.freedom)


def test_a_much_noisier_comparison_keeps_its_own_noise():
    quiet = [Sample((0.0, 0.01, -0.01), number) for number in range(3)]
    wild = Sample((0.5, -0.4, 0.1), 3)
    found = intervals([*quiet, wild])[3]
    half = critical((1, 1, 1, 1), 2, False, 0.05) * math.sqrt(np.var(wild.logs, ddof=1) / 3)
    assert math.log(found.high) == pytest.approx(np.mean(wild.logs) + half)


def test_other_tables_narrow_an_interval():
    """At two degrees of freedom it would be half as wide again."""
    logs = np.random.default_rng(4).normal(0, 0.01, (8, 3)).tolist()
    alone = [intervals([Sample(tuple(each))])[0] for each in logs]
    together = [found for [found] in table_intervals([[Sample(tuple(each))] for each in logs])]
    widths = [np.mean([math.log(each.high / each.low) for each in found]) for found in (alone, together)]
    assert widths[1] < widths[0] / 1.5
    assert [each.ratio for each in together] == [each.ratio for each in alone]


def test_a_table_without_two_loads_says_nothing_of_the_others():
    single, pair = Sample((0.1,)), Sample((0.1, 0.11))
    assert table_intervals([[single], [pair, single], []]) == [[None], [intervals([pair])[0], None], []]


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=6))
def test_it_is_never_narrower_with_fewer_loads(logs):
    half, whole = (intervals([Sample(tuple(each))])[0] for each in (logs, [*logs, *logs]))
    assert half.low <= whole.low * (1 + 1e-9)
    assert half.high >= whole.high * (1 - 1e-9)


def test_the_runs_of_a_load_are_averaged_first():
    many = sample({0: [100.0, 400.0], 1: [50.0]}, {0: [100.0], 1: [50.0, 50.0]})
    assert many.logs == pytest.approx((math.log(2), 0.0))


def test_only_loads_that_both_have_are_paired():
    assert sample({0: [2.0], 1: [8.0]}, {1: [4.0], 2: [1.0]}).logs == pytest.approx((math.log(2),))


def test_one_load_has_a_ratio_and_no_interval():
    one = sample({0: [110.0]}, {0: [100.0]})
    assert intervals([one]) == [None]
    assert ratio(one) == pytest.approx(1.1)
    assert ratio(Sample(())) is None


def test_loads_that_agree_to_the_digit():
    [found] = intervals([sample({0: [110.0], 1: [110.0]}, {0: [100.0], 1: [100.0]})])
    half = stats.t.ppf(0.975, 1) * 0.0025 / math.sqrt(2)
    assert (found.low, found.high) == (pytest.approx(1.1 * math.exp(-half)), pytest.approx(1.1 * math.exp(half)))


@given(LOADS, LOADS)
def test_exchanging_the_arms_turns_the_interval_round(arm, base):
    there, back = intervals([sample(arm, base)])[0], intervals([sample(base, arm)])[0]
    assert (there is None) == (back is None)
    if there and back and max(there.high, back.high) < 1e300:
        assert there.low * back.high == pytest.approx(1)
        assert there.low <= there.ratio <= there.high


def _scatter(generator, shape, tails):
    """Of one standard deviation: normal; with heavy tails; or with one load in ten that is far off."""
    if tails == "heavy":
        return generator.standard_t(3, shape) / math.sqrt(3)
    return generator.normal(size=shape) + (8.0 * (generator.random(shape) < 0.1) if tails == "odd load" else 0.0)


def _tables(noise, loads, tables, shift=0.0, shared=False, tails="normal", seed=11):
    """Verdicts of simulated tables: one comparison per entry of `noise`, both arms alike but for the shift."""
    generator = np.random.default_rng(seed)
    scale, shape = np.array(noise)[:, None], (len(noise), loads)
    for _ in range(tables):
        arms = _scatter(generator, shape, tails) * scale
        base = _scatter(generator, (1, loads) if shared else shape, tails) * (min(noise) if shared else scale)
        logs = arms - base
        logs[0] += shift
        samples = [Sample(tuple(row), "base" if shared else number) for number, row in enumerate(logs.tolist())]
        yield [verdict(found.low, found.high, 0.02) for found in intervals(samples)]


def _wrong(words):
    return bool({FASTER, SLOWER} & set(words))


TABLES = 400
ALLOWED = 0.05 + 1.64 * math.sqrt(0.05 * 0.95 / TABLES)  # 5 %, and what so many tables scatter around it


@pytest.mark.parametrize("loads", [2, 3, 5])
@pytest.mark.parametrize(
    "noise",
    [
        (0.05,),
        (0.05,) * 4,
        (0.05,) * 12,
        (0.2,) * 6,
        (0.02,) * 9 + (0.1,),
        (0.03,) * 5 + (0.1,),
        (0.05, 0.45),
        (0.05, 0.05, 0.45),
        (0.05, 0.05, 1.5, 1.5),
        (0.02,) * 36 + (0.1,) * 4,
    ],
    ids=[
        "one",
        "four",
        "twelve",
        "six wild",
        "one of ten",
        "one of six",
        "one of two",
        "one of three",
        "half",
        "forty",
    ],
)
def test_equal_arms_get_no_difference(noise, loads):
    found = [_wrong(words) for words in _tables(noise, loads, TABLES)]
    assert sum(found) / TABLES <= ALLOWED


@pytest.mark.parametrize("tails", ["heavy", "odd load"])
@pytest.mark.parametrize("noise", [(0.05,), (0.05,) * 4, (0.05, 0.05, 0.45), (0.02,) * 9 + (0.1,)])
def test_equal_arms_of_odd_loads_get_no_difference(noise, tails):
    found = [_wrong(words) for words in _tables(noise, 3, TABLES, tails=tails)]
    assert sum(found) / TABLES <= ALLOWED


@pytest.mark.parametrize("noise", [(0.05,) * 4, (0.02,) * 3 + (0.2,), (0.05, 0.05, 0.45)])
def test_equal_arms_of_one_base_get_no_difference(noise):
    found = [_wrong(words) for words in _tables(noise, 3, TABLES, shared=True)]
    assert sum(found) / TABLES <= ALLOWED


@pytest.mark.parametrize(("comparisons", "least"), [(1, 0.9), (4, 0.85), (12, 0.75)])
def test_a_slowdown_of_thirty_percent_is_found_in_three_loads(comparisons, least):
    found = [words[0] for words in _tables((0.05,) * comparisons, 3, 300, shift=math.log(0.7))]
    assert found.count(SLOWER) / len(found) >= least
    assert FASTER not in found


def test_with_five_loads_it_is_found_in_a_table_of_forty():
    found = [words[0] for words in _tables((0.05,) * 40, 5, 60, shift=math.log(0.7))]
    assert found.count(SLOWER) / len(found) >= 0.8


@pytest.mark.parametrize("loads", [2, 3, 5])
def test_a_difference_beyond_the_smallest_effect_is_not_called_the_same(loads):
    found = [words[0] for words in _tables((0.004,) * 4, loads, TABLES, shift=math.log(1.021))]
    assert found.count(SAME) / TABLES <= ALLOWED


def test_intervals_of_one_comparison_cover_as_they_say():
    generator = np.random.default_rng(5)
    found = [intervals([Sample(tuple(generator.normal(0.1, 0.05, 3)))])[0] for _ in range(2000)]
    covered = np.mean([each.low <= math.exp(0.1) <= each.high for each in found])
    assert 0.94 <= covered <= 0.96


@given(LOADS, LOADS, st.floats(1e-2, 1e2))
def test_the_unit_of_the_figures_does_not_matter(arm, base, scale):
    scaled = [{load: [value * scale for value in runs] for load, runs in each.items()} for each in (arm, base)]
    one, other = intervals([sample(arm, base)])[0], intervals([sample(*scaled)])[0]
    assert (one is None) == (other is None)
    if one and other and one.high < 1e300:
        assert (other.low, other.ratio, other.high) == pytest.approx((one.low, one.ratio, one.high))


@given(LOADS, LOADS, st.randoms())
def test_what_the_loads_are_called_does_not_matter(arm, base, chance_of):
    names = list(range(6))
    chance_of.shuffle(names)
    renamed = [{names[load]: runs for load, runs in each.items()} for each in (arm, base)]
    one, other = intervals([sample(arm, base)])[0], intervals([sample(*renamed)])[0]
    assert (one is None) == (other is None)
    if one and other and one.high < 1e300:
        assert (other.low, other.high) == pytest.approx((one.low, one.high))


def test_the_chance_of_a_ratio_fits_its_interval():
    """Just beyond the smallest effect with 95 %: one in twenty."""
    found = intervals([Sample((0.10, 0.14, 0.12))])[0]
    edge = math.expm1(math.log(found.low))
    assert chance(found, edge) == pytest.approx(0.05)
    assert chance(found, 0.2) == 1.0
    assert chance(Interval(1.1, 1.0, 1.2, 1), 0.02) is None


def test_a_load_without_runs_is_missing() -> None:
    assert sample({0: [100.0], 1: []}, {0: [100.0], 1: [50.0]}).loads == (0,)


ALPHA = 0.05
ARMS = st.lists(st.integers(1, 12), min_size=1, max_size=4).map(tuple)
FREEDOM = st.floats(1, 60)


@pytest.mark.parametrize("freedom", [1, 2, 4.5, 30])
def test_of_one_comparison_it_is_students(freedom):
    assert critical((1,), freedom, True, ALPHA) == pytest.approx(stats.t.ppf(0.975, freedom))


@pytest.mark.parametrize(("arms", "loads"), [(2, 3), (4, 3), (4, 10), (9, 5)])
def test_with_one_variance_it_is_scipys_dunnett(arms, loads):
    figures = np.random.default_rng(1).normal(size=(arms + 1, loads))
    result = stats.dunnett(*figures[1:], control=figures[0], rng=np.random.default_rng(2))
    interval = result.confidence_interval(0.95)
    error = np.sqrt(figures.var(axis=1, ddof=1).mean() * 2 / loads)
    expected = (interval.high - interval.low).mean() / 2 / error
    assert critical((arms,), (arms + 1) * (loads - 1), True, ALPHA) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("arms", [3, 8])
def test_of_bases_and_variances_of_their_own_it_is_sidaks(arms):
    expected = stats.t.ppf((1 + 0.95 ** (1 / arms)) / 2, 6)
    assert critical((1,) * arms, 6, False, ALPHA) == pytest.approx(expected, rel=1e-3)


@settings(max_examples=25)
@given(ARMS, FREEDOM)
def test_it_lies_between_one_comparison_and_bonferroni(arms, freedom):
    for common in (True, False):
        found = critical(arms, freedom, common, ALPHA)
        assert stats.t.ppf(1 - ALPHA / 2, freedom) <= found * 1.001
        assert found <= stats.t.ppf(1 - ALPHA / 2 / sum(arms), freedom) * 1.001


@settings(max_examples=25)
@given(ARMS, FREEDOM)
def test_more_arms_and_less_knowledge_reach_farther(arms, freedom):
    found = critical(arms, freedom, False, ALPHA)
    assert found <= critical((*arms, 1), freedom, False, ALPHA) * 1.001
    assert found >= critical(arms, freedom * 2, False, ALPHA) * 0.999
    assert found >= critical(arms, freedom, True, ALPHA) * 0.999


def test_between_common_and_own_variances_it_is_in_proportion():
    freedom = np.array([4.2, 3.999, 4.2, 300.0])
    found = criticals([3, 1], freedom, np.array([0.0, 1.0, 0.5, 0.0]), ALPHA)
    assert found[0] == critical((1, 3), 4.0, False, ALPHA)
    assert found[1] == critical((1, 3), 4.0, True, ALPHA)
    assert found[2] == pytest.approx((found[0] + found[1]) / 2)
    assert found[3] == critical((1, 3), 200.0, False, ALPHA)
