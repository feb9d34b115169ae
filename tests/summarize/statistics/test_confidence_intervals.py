"""Intervals of ratios: what they are made of, and by simulation how often they are wrong and what they find."""

import math
from statistics import geometric_mean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from stepgrid.model.units import mean
from stepgrid.summarize.statistics.confidence_intervals import (
    Interval,
    LogRatios,
    Spreads,
    chance,
    critical,
    intervals,
    inverse,
    mean_interval,
    moderated,
    moved,
    outliers,
    ratio,
    relative,
    sample,
    series_interval,
    table_intervals,
)
from stepgrid.summarize.statistics.verdicts import FASTER, SAME, SLOWER, verdict

POSITIVE = st.floats(1e-3, 1e9)
LOADS = st.dictionaries(st.integers(0, 5), st.lists(POSITIVE, min_size=1, max_size=3), min_size=2, max_size=5)
ARMS = st.lists(st.integers(1, 12), min_size=1, max_size=4).map(tuple)
FREEDOM = st.floats(1, 60)
ALPHA, TABLES = 0.05, 400
ALLOWED = ALPHA + 1.64 * math.sqrt(ALPHA * (1 - ALPHA) / TABLES)  # 5 %, and what so many tables scatter around it


def only(*logs, **more):
    return intervals([LogRatios(logs, **more)])[0]


def test_one_comparison_is_the_paired_t_interval():
    arm, base = [105.0, 111.0, 120.0, 99.0], [100.0, 104.0, 109.0, 98.0]
    [interval] = intervals([sample(dict(enumerate([v] for v in arm)), dict(enumerate([v] for v in base)))])
    from scipy import stats

    expected = stats.ttest_rel(np.log(arm), np.log(base)).confidence_interval(0.95)
    assert np.log([interval.low, interval.high]) == pytest.approx([expected.low, expected.high])
    assert interval.ratio == pytest.approx(geometric_mean(np.divide(arm, base)))
    assert interval.ratios == pytest.approx(np.divide(arm, base))
    assert (interval.loads, interval.freedom) == (4, 3)
    assert interval.critical == pytest.approx(special.stdtrit(3, 0.975))


@pytest.mark.parametrize("change", [lambda each: each, inverse, lambda each: moved(each, 2.0)])
def test_an_interval_carries_what_recomputes_it(change):
    for interval in map(
        change, intervals([LogRatios((0.10, 0.14, 0.12), "base"), LogRatios((0.0, 0.05, 0.01), "base")])
    ):
        assert geometric_mean(interval.ratios) == pytest.approx(interval.ratio)
        reach = math.exp(interval.critical * interval.deviation / math.sqrt(interval.loads))
        assert (interval.low, interval.high) == pytest.approx((interval.ratio / reach, interval.ratio * reach))


def test_other_tables_narrow_an_interval():
    """At two degrees of freedom it would be half as wide again."""
    logs = np.random.default_rng(4).normal(0, 0.01, (8, 3)).tolist()
    alone = [only(*row) for row in logs]
    together = [interval for [interval] in table_intervals([[LogRatios(tuple(row))] for row in logs])]
    widths = [np.median([math.log(each.high / each.low) for each in rows]) for rows in (alone, together)]
    assert widths[1] < widths[0] / 1.5
    assert [each.ratio for each in together] == [each.ratio for each in alone]


def test_a_comparison_of_one_load_has_a_ratio_alone():
    single, pair = LogRatios((0.1,)), LogRatios((0.1, 0.11))
    assert table_intervals([[single], [pair, single], []]) == [[None], [intervals([pair])[0], None], []]
    assert ratio(sample({0: [110.0]}, {0: [100.0]})) == pytest.approx(1.1)
    assert ratio(LogRatios(())) is None


def test_runs_of_a_load_are_averaged_and_loads_of_both_are_paired():
    runs = sample({0: [100.0, 400.0], 1: [50.0]}, {0: [100.0], 1: [50.0, 50.0]})
    assert runs.logs == pytest.approx((math.log(2), 0.0))
    assert sample({0: [2.0], 1: [8.0]}, {1: [4.0], 2: [1.0]}).logs == pytest.approx((math.log(2),))
    assert sample({0: [100.0], 1: []}, {0: [100.0], 1: [50.0]}).loads == (0,)


@given(LOADS, LOADS, st.floats(1e-2, 1e2), st.randoms())
def test_neither_order_nor_unit_nor_names_matter(arm, base, scale, shuffler):
    names = list(range(6))
    shuffler.shuffle(names)
    scaled = [{names[load]: [value * scale for value in runs] for load, runs in side.items()} for side in (arm, base)]
    forth, back, other = (intervals([sample(*sides)])[0] for sides in ((arm, base), (base, arm), scaled))
    assert (forth is None) == (back is None) == (other is None)
    if forth and max(forth.high, back.high) < 1e300:
        assert forth.low * back.high == pytest.approx(1)
        assert forth.low <= forth.ratio <= forth.high
        assert (other.low, other.ratio, other.high) == pytest.approx((forth.low, forth.ratio, forth.high))


def test_the_chance_of_a_ratio_fits_its_interval():
    """Just beyond the smallest effect with 95 %: one in twenty."""
    interval = only(0.10, 0.14, 0.12)
    assert chance(interval, math.expm1(math.log(interval.low))) == pytest.approx(0.05)
    assert chance(interval, 0.2) == 1.0
    assert chance(Interval(1.1, 1.0, 1.2, 1), 0.02) is None


def _scatter(generator, shape, tails):
    """Draw with a standard deviation of one: normal; with heavy tails; or with one load in ten that is far off."""
    if tails == "heavy":
        return generator.standard_t(3, shape) / math.sqrt(3)
    return generator.normal(size=shape) + (8.0 * (generator.random(shape) < 0.1) if tails == "odd load" else 0.0)


def _tables(noise, loads, tables=TABLES, shift=0.0, shared=False, tails="normal"):
    """Judge simulated tables: one comparison per entry of `noise`, both arms alike but for the shift."""
    generator = np.random.default_rng(11)
    scale, shape = np.array(noise)[:, None], (len(noise), loads)
    for _ in range(tables):
        arms = _scatter(generator, shape, tails) * scale
        base = _scatter(generator, (1, loads) if shared else shape, tails) * (min(noise) if shared else scale)
        logs = arms - base
        logs[0] += shift
        samples = [LogRatios(tuple(row), "base" if shared else number) for number, row in enumerate(logs.tolist())]
        yield [verdict(interval.low, interval.high, 0.02) for interval in intervals(samples)]


NOISES = {
    "one": (0.05,),
    "four": (0.05,) * 4,
    "six wild": (0.2,) * 6,
    "one of ten": (0.02,) * 9 + (0.1,),
    "one of two": (0.05, 0.45),
    "one of three": (0.05, 0.05, 0.45),
    "half": (0.05, 0.05, 1.5, 1.5),
    "forty": (0.02,) * 36 + (0.1,) * 4,
}


@pytest.mark.parametrize("loads", [2, 3, 5])
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_equal_arms_get_no_difference(noise, loads):
    assert _wrong(_tables(noise, loads)) <= ALLOWED


def _wrong(tables):
    return np.mean([bool({FASTER, SLOWER} & set(words)) for words in tables])


@pytest.mark.parametrize(
    ("comparisons", "loads", "tables", "least"),
    [(1, 3, 300, 0.9), (4, 3, 300, 0.85), (12, 3, 300, 0.75), (40, 5, 60, 0.8)],
)
def test_a_slowdown_of_thirty_percent_has_a_verdict(comparisons, loads, tables, least):
    words = [table[0] for table in _tables((0.05,) * comparisons, loads, tables, math.log(0.7))]
    assert words.count(SLOWER) / tables >= least
    assert FASTER not in words


@pytest.mark.parametrize("loads", [2, 3, 5])
def test_a_difference_beyond_the_smallest_effect_is_not_called_the_same(loads):
    words = [table[0] for table in _tables((0.004,) * 4, loads, shift=math.log(1.021))]
    assert words.count(SAME) / TABLES <= ALLOWED


@pytest.mark.parametrize(("arms", "loads"), [(2, 3), (4, 10), (9, 5)])
def test_a_critical_value_with_one_variance_is_scipys_dunnett(arms, loads):
    figures = np.random.default_rng(1).normal(size=(arms + 1, loads))
    from scipy import stats

    result = stats.dunnett(*figures[1:], control=figures[0], rng=np.random.default_rng(2))
    interval = result.confidence_interval(0.95)
    error = np.sqrt(figures.var(axis=1, ddof=1).mean() * 2 / loads)
    expected = (interval.high - interval.low).mean() / 2 / error
    assert critical((arms,), (arms + 1) * (loads - 1), True, ALPHA) == pytest.approx(expected, rel=0.01)


@settings(max_examples=25)
@given(ARMS, FREEDOM)
def test_a_critical_value_lies_between_one_comparison_and_bonferroni(arms, freedom):
    common, separate = (critical(arms, freedom, way, ALPHA) for way in (True, False))
    assert special.stdtrit(freedom, 1 - ALPHA / 2) <= common * 1.001
    assert common * 0.999 <= separate <= special.stdtrit(freedom, 1 - ALPHA / 2 / sum(arms)) * 1.001
    assert separate <= critical((*arms, 1), freedom, False, ALPHA) * 1.001
    assert separate >= critical(arms, freedom * 2, False, ALPHA) * 0.999


VARIANCES = st.floats(1e-3, 1e2)
SPREADS = st.lists(st.lists(st.tuples(VARIANCES, st.integers(1, 9)), min_size=1, max_size=6), min_size=1, max_size=6)


def spreads(tables):
    """A table is a list of (variance, degrees of freedom), all of one base."""
    rows = [(at, *row) for at, table in enumerate(tables) for row in table]
    table, variance, freedom = (np.array(column) for column in zip(*rows, strict=True))
    return Spreads(variance, freedom.astype(float), table, table)


def equal(comparisons, tables, freedom=2):
    """Draw variances of comparisons that have one noise."""
    chance = np.random.default_rng(1)
    return [[(value, freedom) for value in chance.chisquare(freedom, comparisons) / freedom] for _ in range(tables)]


@given(SPREADS, st.floats(1e-2, 1e2), st.randoms())
def test_neither_the_unit_nor_the_order_matters(tables, scale, shuffler):
    sample = spreads(tables)
    order = list(range(len(sample.variance)))
    shuffler.shuffle(order)
    changed = Spreads(*(column[order] for column in sample[:4]))
    one, other = moderated(sample), moderated(changed._replace(variance=changed.variance * scale))
    assert other.variance == pytest.approx(one.variance[order] * scale, rel=1e-6)
    assert other.freedom == pytest.approx(one.freedom[order], rel=1e-6)


def test_many_equal_comparisons_know_the_noise_and_few_know_less():
    noise = moderated(spreads(equal(4, 200)))
    assert np.median(noise.variance) == pytest.approx(1.0, rel=0.1)
    assert np.median(noise.freedom) > 10
    few, many = (np.median(moderated(spreads(equal(1, tables))).freedom) for tables in (3, 100))
    assert 2 < few < many / 2


def test_a_clearly_noisier_comparison_keeps_its_variance():
    noise = moderated(spreads([*equal(4, 8), [(1.0, 2), (1.0, 2), (60.0, 2)]]))
    assert (noise.variance[-1], noise.freedom[-1]) == (60, 2)
    assert noise.variance[-3:-1] == pytest.approx(1, rel=0.5)


QUIET = (0.0, 0.01, -0.01, 0.005, -0.005)


def samples(*rows):
    return [LogRatios(row, loads=tuple(range(len(row)))) for row in rows]


@pytest.mark.parametrize("count", [2, 3, 6, 20])
def test_the_interval_of_a_figure_is_students_of_the_logarithms(count):
    loads = np.random.default_rng(count).lognormal(size=count).tolist()
    low, high = mean_interval(loads)
    from scipy import stats

    ends = stats.ttest_1samp(np.log(loads), 0).confidence_interval(0.95)
    assert (low, high) == pytest.approx(tuple(np.exp(ends)))
    assert low < mean(loads) < high


@pytest.mark.parametrize("loads", [[], [100.0], [100.0, 0.0], [5.0, 0.0, 4.0, 2.0, 6.0, 3.0]])
def test_too_few_loads_have_no_interval(loads):
    assert mean_interval(loads) is None


def test_a_load_far_off_has_the_ratio_without_it():
    none, [outlier] = outliers(samples(QUIET, (0.0, 0.01, -0.01, 0.5)))
    assert none == ()
    assert outlier.load == 3
    assert (outlier.alone, outlier.without) == pytest.approx((math.exp(0.5), 1.0))


@pytest.mark.parametrize(
    "rows",
    [(QUIET, (0.0, 0.0001, -0.0001, 0.019)), ((0.0, 0.5),), ((0.0, 0.001, 0.5),)],
    ids=["harmless", "two loads", "few distances"],
)
def test_no_load_is_far_off(rows):
    assert outliers(samples(*rows)) == [()] * len(rows)


def seconds_interval(arm, base):
    return series_interval(relative(arm), relative(base))


def test_short_series_have_no_interval():
    assert seconds_interval([1.0, 2.0] * 9 + [3.0], [1.0] * 40) is None
    assert seconds_interval([1.0, 2.0] * 10, [1.0] * 40) is not None


def _dependent(generator, seconds):
    """An AR(1) series around 1000: neighbours resemble each other, as compactions make them."""
    noise = np.empty(seconds)
    noise[0] = generator.normal()
    for at in range(1, seconds):
        noise[at] = 0.6 * noise[at - 1] + generator.normal() * 0.8
    return 1000 + 100 * noise


def test_dependence_widens_the_interval():
    generator = np.random.default_rng(3)
    covered, naive = [], []
    for _ in range(400):
        arm, base = _dependent(generator, 300), _dependent(generator, 300)
        found = seconds_interval(arm, base)
        covered.append(found.low <= 1 <= found.high)
        error = 1.96 * np.sqrt(arm.var() + base.var()) / np.sqrt(300) / 1000
        naive.append(abs(arm.mean() / base.mean() - 1) <= error)
    assert np.mean(covered) >= 0.91
    assert np.mean(naive) < 0.8
