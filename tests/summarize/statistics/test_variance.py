import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.statistics.variance import FLOOR, Spreads, moderated

VARIANCES = st.floats(1e-3, 1e2)
TABLES = st.lists(st.lists(st.tuples(VARIANCES, st.integers(1, 9)), min_size=1, max_size=6), min_size=1, max_size=6)


def spreads(tables, scale=1.0):
    """A table is a list of (variance, degrees of freedom), all of one base."""
    every = [(at, *each) for at, table in enumerate(tables) for each in table]
    table, variance, freedom = (np.array(column) for column in zip(*every, strict=True))
    return Spreads(variance * scale, freedom.astype(float), table, table)


def alike(comparisons, tables, freedom=2):
    """Variances of so many comparisons that have one noise."""
    chance = np.random.default_rng(1)
    return [[(each, freedom) for each in chance.chisquare(freedom, comparisons) / freedom] for _ in range(tables)]


@given(TABLES, st.floats(1e-2, 1e2))
def test_the_unit_does_not_matter(tables, scale):
    one, other = moderated(spreads(tables)), moderated(spreads(tables, scale))
    assert other.variance == pytest.approx(one.variance * scale, rel=1e-6)
    assert other.freedom == pytest.approx(one.freedom, rel=1e-6)


@given(TABLES, st.randoms())
def test_the_order_does_not_matter(tables, chance):
    rows = [(at, place) for at, table in enumerate(tables) for place in range(len(table))]
    shuffled = list(rows)
    chance.shuffle(shuffled)
    known = spreads(tables)
    order = [rows.index(each) for each in shuffled]
    one, other = moderated(known), moderated(Spreads(*(column[order] for column in known)))
    assert other.variance == pytest.approx(one.variance[order])
    assert other.freedom == pytest.approx(one.freedom[order])


@given(TABLES)
def test_the_others_only_add_to_what_a_comparison_shows(tables):
    own, found = spreads(tables), moderated(spreads(tables))
    assert (found.freedom >= own.freedom).all()
    assert ((found.common >= 0) & (found.common <= 1)).all()
    assert (found.variance > 0).all()


@given(VARIANCES, st.integers(1, 9))
def test_alone_it_is_its_own(variance, freedom):
    found = moderated(spreads([[(variance, freedom)]]))
    assert (found.variance[0], found.freedom[0], found.common[0]) == (pytest.approx(variance), freedom, 0)


def test_many_that_are_alike_know_the_noise():
    found = moderated(spreads(alike(4, 200)))
    assert np.median(found.variance) == pytest.approx(1.0, rel=0.1)
    assert np.median(found.freedom) > 10


def test_what_few_have_in_common_counts_for_less():
    few, many = (np.median(moderated(spreads(alike(1, tables))).freedom) for tables in (3, 100))
    assert 2 < few < many / 2


def test_steps_that_differ_in_noise_say_little_of_each_other():
    noises = np.exp(np.linspace(-3, 3, 8))
    tables = [
        [(noise * variance, 2) for variance, _ in table] for noise, table in zip(noises, alike(4, 8), strict=True)
    ]
    found = moderated(spreads(tables))
    assert found.freedom.max() < np.median(moderated(spreads(alike(4, 8))).freedom)
    assert np.corrcoef(np.log(found.variance), np.log(np.repeat(noises, 4)))[0, 1] > 0.9


def test_a_clearly_noisier_one_keeps_its_own():
    found = moderated(spreads([*alike(4, 8), [(1.0, 2), (1.0, 2), (60.0, 2)]]))
    assert (found.variance[-1], found.freedom[-1]) == (60, 2)
    assert found.variance[-3:-1] == pytest.approx(1, rel=0.5)


def test_loads_that_agree_to_the_digit_are_not_without_noise():
    found = moderated(spreads([[(0.0, 2)] * 3] * 3))
    assert found.variance == pytest.approx(FLOOR, rel=0.3)


def test_comparisons_with_one_base_say_less_than_independent_ones():
    shared = spreads(alike(4, 1, freedom=9))
    apart = shared._replace(base=np.arange(4))
    assert (moderated(shared).freedom < moderated(apart).freedom).all()
