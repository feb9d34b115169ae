import numpy as np
import pytest

from stepgrid.summarize.data.series import from_pairs
from stepgrid.summarize.statistics.timeseries import batch_means, relative, series_interval

PLACE = ("s-1", 0)


def steadiness(series):
    return from_pairs(series).steadiness


def interval(arm, base):
    return series_interval(relative(arm), relative(base))


def rows(series):
    return np.array([series], dtype=float)


def test_steadiness_against_numpy():
    series = [100.0, 110.0, 90.0, 100.0, 10.0]
    longer = [(float(second), 100.0) for second in range(9)]
    found = steadiness({PLACE: list(enumerate(series)), ("s-1", 1): longer})[PLACE]
    assert found.variation == pytest.approx(np.std(series, ddof=1) / np.mean(series))
    assert found.slow == pytest.approx(0.2)


@pytest.mark.parametrize("series", [[], [5.0], [0.0] * 5, [100.0, 10.0, 100.0, 100.0]])
def test_too_little_to_tell(series):
    assert steadiness({PLACE: list(enumerate(series))}) == {}


def test_batches_are_consecutive():
    assert batch_means(rows(range(15))).tolist() == [[1.0, 4.0, 7.0, 10.0, 13.0]]


@pytest.mark.parametrize(("seconds", "batches"), [(20, 5), (60, 5), (144, 6), (300, 8), (600, 10), (1800, 10)])
def test_batches_are_few_and_long(seconds, batches):
    assert batch_means(rows(range(seconds))).shape == (1, batches)


def test_short_series_have_no_interval():
    assert interval([1.0, 2.0] * 9 + [3.0], [1.0] * 40) is None
    assert interval([1.0, 2.0] * 10, [1.0] * 40) is not None


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
        found = interval(arm, base)
        covered.append(found.low <= 1 <= found.high)
        error = 1.96 * np.sqrt(arm.var() + base.var()) / np.sqrt(300) / 1000
        naive.append(abs(arm.mean() / base.mean() - 1) <= error)
    assert np.mean(covered) >= 0.91
    assert np.mean(naive) < 0.8
