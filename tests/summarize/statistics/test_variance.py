import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.statistics.confidence_intervals import Spreads, moderated

VARIANCES = st.floats(1e-3, 1e2)
TABLES = st.lists(st.lists(st.tuples(VARIANCES, st.integers(1, 9)), min_size=1, max_size=6), min_size=1, max_size=6)


def spreads(tables):
    """A table is a list of (variance, degrees of freedom), all of one base."""
    rows = [(at, *row) for at, table in enumerate(tables) for row in table]
    table, variance, freedom = (np.array(column) for column in zip(*rows, strict=True))
    return Spreads(variance, freedom.astype(float), table, table)


def equal(comparisons, tables, freedom=2):
    """Draw variances of comparisons that have one noise."""
    chance = np.random.default_rng(1)
    return [[(value, freedom) for value in chance.chisquare(freedom, comparisons) / freedom] for _ in range(tables)]


@given(TABLES, st.floats(1e-2, 1e2), st.randoms())
def test_neither_the_unit_nor_the_order_matters(tables, scale, shuffler):
    sample = spreads(tables)
    order = list(range(len(sample.variance)))
    shuffler.shuffle(order)
    changed = Spreads(*(column[order] for column in sample))
    one, other = moderated(sample), moderated(changed._replace(variance=changed.variance * scale))
    assert other.variance == pytest.approx(one.variance[order] * scale, rel=1e-6)
    assert other.freedom == pytest.approx(one.freedom[order], rel=1e-6)


def test_many_equal_comparisons_know_the_noise_and_few_know_less():
    noise = moderated(spreads(equal(4, 200)))
    assert np.median(noise.variance) == pytest.approx(1.0, rel=0.1)
    assert np.median(noise.freedom) > 10
    few, many = (np.median(moderated(spreads(equal(1, tables))).freedom) for tables in (3, 100))
    assert 2 < few < many / 2


def test_steps_that_differ_in_noise_say_little_of_each_other():
    noises = np.exp(np.linspace(-3, 3, 8))
    tables = [[(noise * row[0], 2) for row in table] for noise, table in zip(noises, equal(4, 8), strict=True)]
    noise = moderated(spreads(tables))
    assert noise.freedom.max() < np.median(moderated(spreads(equal(4, 8))).freedom)
    assert np.corrcoef(np.log(noise.variance), np.log(np.repeat(noises, 4)))[0, 1] > 0.9


def test_a_clearly_noisier_comparison_keeps_its_variance():
    noise = moderated(spreads([*equal(4, 8), [(1.0, 2), (1.0, 2), (60.0, 2)]]))
    assert (noise.variance[-1], noise.freedom[-1]) == (60, 2)
    assert noise.variance[-3:-1] == pytest.approx(1, rel=0.5)
