"""Where series become steady: made ones, and those of engines that were recorded."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.collect.series import WINDOWS, series_figures, steady_state

SECONDS = 300
WINDOW = SECONDS / WINDOWS
RECORDED = json.loads(Path(__file__).with_name("recorded_series.json").read_text())
seeds, noises = st.integers(0, 10_000), st.sampled_from([0.0, 0.01, 0.03])


def series(rates, seed=3, noise=0.05):
    values = np.asarray(rates) * (1 + np.random.default_rng(seed).normal(0, noise, len(rates)))
    return [(float(second), float(rate)) for second, rate in enumerate(values, 1)]


def begin(points, debts=None):
    state = steady_state(points, debts or {})
    return state.begin if state.holds else None


@given(seeds, st.floats(1, 1e6), noises)
def test_noise_alone_is_steady_from_its_beginning(seed, rate, noise):
    points = series([rate] * SECONDS, seed, noise)
    assert begin(points) <= 2 * WINDOW
    assert series_figures(points).metrics["steady_qps"] == pytest.approx(rate, rel=0.02)


@given(seeds, st.integers(3, 17), st.floats(0.4, 0.7), noises)
def test_a_fall_that_ends_is_left_out_to_within_two_windows(seed, knee, drop, noise):
    length = int(knee * WINDOW)
    rates = [*np.linspace(1000 / (1 - drop), 1000, length), *[1000] * (SECONDS - length)]
    assert abs(begin(series(rates, seed, noise)) - length) <= 2 * WINDOW + 1


@given(seeds, st.floats(0.25, 0.7), noises)
def test_what_falls_or_rises_all_the_time_is_never_steady(seed, drop, noise):
    rates = np.linspace(1000, 1000 * (1 - drop), SECONDS)
    assert begin(series(rates, seed, noise)) is begin(series(rates[::-1], seed, noise)) is None


@given(seeds, st.floats(0.8, 0.95), st.floats(0.3, 1), noises)
def test_what_collapses_at_its_end_is_never_steady(seed, at, drop, noise):
    length = int(SECONDS * at)
    assert begin(series([1000] * length + [1000 * (1 - drop)] * (SECONDS - length), seed, noise)) is None


@given(seeds, st.floats(0.2, 0.6), st.floats(3, 12), st.booleans())
def test_flushes_that_come_three_times_or_more_are_steady(seed, depth, periods, rising):
    phase = np.arange(SECONDS) * periods / SECONDS % 1
    rates = 1000 * (1 - depth + depth * (phase if rising else 1 - phase))
    assert begin(series(rates, seed, 0.01)) is not None


def test_a_late_step_is_seen_and_regular_stalls_and_small_drifts_are_none():
    late = series([1000] * 210 + [700] * 90, noise=0.01)
    assert begin(late) is None
    assert series_figures(late).warnings == ["no steady state: QPS fell by 30 % in the last 1m40s"]
    assert begin(series([10 if second % 30 == 0 else 1000 for second in range(SECONDS)])) is not None
    assert begin(series(np.linspace(1000, 1020, SECONDS), noise=0)) == 0


@pytest.mark.parametrize(
    ("rates", "seconds", "reason"),
    [
        ([], [], "0 points, expected 60 or more"),
        ([1.0] * 59, range(59), "59 points, expected 60 or more"),
        ([0.0] * 60, range(60), "no operations"),
        ([1.0] * 59 + [float("nan")], range(60), "points that are no numbers"),
        ([1.0] * 60, [*range(29), *range(3600, 3631)], "no point for 59m32s"),
    ],
)
def test_too_little_to_tell(rates, seconds, reason):
    figures = series_figures([*zip(seconds, rates, strict=True)], {})
    assert figures.warnings == [f"not steady: its series has {reason}"]
    assert not figures.metrics.keys() & {"steady_qps", "initial_qps"}


def test_few_series_of_noise_are_refused():
    """Dependent seconds, too: an AR(1) of 0.6 at 10 %."""
    generator, refused = np.random.default_rng(7), 0
    for _ in range(300):
        noise = generator.normal(0, 0.08, 300)
        for at in range(1, 300):
            noise[at] += 0.6 * noise[at - 1]
        refused += begin(series(1000 * (1 + noise), noise=0)) is None
    assert refused <= 300 * 0.03


def test_a_step_that_is_to_become_steady_waits_for_its_debts_and_says_what_was_not_steady():
    points = series([1500] * 60 + [1000] * 240, noise=0.01)
    debts = {"dirty pages": [(float(at), min(at, 150.0)) for at in range(0, 300, 5)]}
    figures = series_figures(points, debts).metrics
    assert 130 <= figures["steady_from_s"] <= 160, "not before its debts stop to grow"
    assert (round(figures["steady_qps"], -1), round(figures["initial_qps"], -2)) == (1000, 1500)
    assert series_figures(points, debts).warnings == []
    for since in (0, 225, 270):
        growing = {"dirty pages": [(float(at), max(0.0, at - since)) for at in range(0, 300, 5)]}
        assert "steady_qps" not in series_figures(points, growing).metrics
        assert series_figures(points, growing).warnings == ["not steady within 5m00s: dirty pages grew"]
    ended = {"dirty pages": [(float(at), 1.0) for at in range(0, 200, 5)]}
    late = {"dirty pages": [(float(at), 1.0) for at in range(275, 600, 5)]}
    for debts in ({}, ended, late):
        by_rate_alone = ["steady by its rate alone: of the engine's debts too little is known"]
        assert series_figures(points, debts).warnings == by_rate_alone
    falling = [(at * 24, rate) for at, rate in series(np.linspace(1000, 700, SECONDS), noise=0.01)]
    debts = {"history list": [(float(second), second % 900.0) for second in range(7200)]}
    assert series_figures(falling, debts).warnings == ["not steady within 2h00m: QPS fell by 12 % in the last 40m00s"]


def test_recorded_series_of_engines_are_read_as_somebody_saw_them_in_nine_of_ten():
    """`steady`: between which seconds the steady part begins in the chart; null: it has none."""

    def is_right(record):
        found = begin([(float(second), rate) for second, rate in enumerate(record["qps"], 1)], record["debts"])
        earliest, latest = record["steady"] or (None, None)
        return found is None if earliest is None else found is not None and earliest <= found <= latest

    misread = [name for name, record in RECORDED.items() if not is_right(record)]
    assert len(misread) <= len(RECORDED) / 10, misread
