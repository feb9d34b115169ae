"""What a step does to the one that it runs beside, from planted series."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.collect.series import effect
from stepgrid.model.records import StepRecord


def record(began, ended, rounds=()):
    def at(second):
        return f"2026-11-29T12:{int(second) // 60:02}:{int(second) % 60:02}.{round(second % 1 * 1e6):06}+00:00"

    pairs = tuple((at(first), at(last)) for first, last in rounds)
    return StepRecord(name="x", started=at(began), ended=at(ended), seconds=ended - began, rounds=pairs)


MAIN = record(0, 60)


def planted(*drops, rate=1000.0, seconds=60):
    """A second's rate is lower while something runs: (from, to, share)."""
    rates = []
    for second in range(1, seconds + 1):
        share = 1.0
        for first, last, part in drops:
            share *= part if first < second <= last else 1.0
        rates.append((float(second), rate * share))
    return rates


@given(st.integers(5, 30), st.integers(4, 20), st.floats(0.05, 1.5), st.integers(0, 6), st.floats(0.0, 0.9))
def test_the_planted_cost_and_recovery_are_found(began, length, share, slow, lag):
    ended = began + length
    drops = [(began, ended, share), (ended, ended + slow, 0.5)]
    points = [(second + lag, rate) for second, rate in planted(*drops)]
    found = effect(record(began + lag, ended + lag), MAIN, [], points, points).metrics
    assert found["main_qps_ratio"] == pytest.approx(share)
    assert found["main_p99_ratio"] == pytest.approx(share)
    assert found["main_qps_before"] == 1000
    assert found["main_recovery_seconds"] == pytest.approx(slow, abs=1)
    assert found["beside_seconds"] == pytest.approx(length)


def test_only_seconds_with_the_same_others_are_compared():
    tenant, index = record(10, 60), record(20, 30)
    points = planted((10, 60, 0.8), (20, 30, 0.5), (40, 50, 0.9))
    backup = record(40, 50)
    assert effect(backup, MAIN, [tenant, index], points, ()).metrics["main_qps_ratio"] == pytest.approx(0.9)
    assert effect(index, MAIN, [tenant, backup], points, ()).metrics["main_qps_ratio"] == pytest.approx(0.5)
    assert effect(tenant, MAIN, [index, backup], points, ()).metrics["main_qps_ratio"] == pytest.approx(0.8)


def test_rounds_count_while_they_run_alone():
    rounds = [(10, 14), (20, 24), (30, 34)]
    points = planted(*((first, last, 0.7) for first, last in rounds))
    found = effect(record(10, 34, rounds), MAIN, [], points, ()).metrics
    assert (found["main_qps_ratio"], found["beside_rounds"]) == (pytest.approx(0.7), 3)


@pytest.mark.parametrize(
    ("own", "points", "fact"),
    [
        (record(20, 30), (), "has no series of QPS"),
        (record(0, 30), planted(), "has no second before it"),
        (record(20.1, 20.3), planted(), "less than an interval"),
    ],
)
def test_what_cannot_be_told_is_said(own, points, fact):
    found = effect(own, MAIN, [], points, ())
    assert "main_qps_ratio" not in found.metrics
    assert fact in found.facts["cost"]
