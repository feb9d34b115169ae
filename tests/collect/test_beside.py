"""What a step does to the one that it runs beside, from planted series."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.collect.series import MainSeries, effect, series_start
from stepgrid.model.records import StepRecord, replace


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
    found = effect(record(began + lag, ended + lag), MAIN, [], MainSeries(points, points)).metrics
    assert found["main_qps_ratio"] == pytest.approx(share)
    assert found["main_p99_ratio"] == pytest.approx(share)
    assert found["main_qps_before"] == 1000
    assert found["main_recovery_seconds"] == pytest.approx(slow, abs=1)
    assert found["beside_seconds"] == pytest.approx(length)


def test_only_seconds_with_the_same_others_are_compared():
    tenant, index = record(10, 60), record(20, 30)
    points = planted((10, 60, 0.8), (20, 30, 0.5), (40, 50, 0.9))
    backup = record(40, 50)
    assert effect(backup, MAIN, [tenant, index], MainSeries(points)).metrics["main_qps_ratio"] == pytest.approx(0.9)
    assert effect(index, MAIN, [tenant, backup], MainSeries(points)).metrics["main_qps_ratio"] == pytest.approx(0.5)
    assert effect(tenant, MAIN, [index, backup], MainSeries(points)).metrics["main_qps_ratio"] == pytest.approx(0.8)


def test_rounds_count_while_they_run_alone():
    rounds = [(10, 14), (20, 24), (30, 34)]
    points = planted(*((first, last, 0.7) for first, last in rounds))
    found = effect(record(10, 34, rounds), MAIN, [], MainSeries(points)).metrics
    assert (found["main_qps_ratio"], found["beside_rounds"]) == (pytest.approx(0.7), 3)


@pytest.mark.parametrize(
    ("own", "points", "fact"),
    [
        (record(20, 30), (), "has no series of QPS"),
        (record(0, 30), planted(), "has no second before it"),
        (record(20.1, 20.3), planted(), "no whole second"),
    ],
)
def test_what_cannot_be_told_is_said(own, points, fact):
    found = effect(own, MAIN, [], MainSeries(points))
    assert "main_qps_ratio" not in found.metrics
    assert fact in found.facts["cost"]


def test_a_series_begins_when_its_client_did():
    """The program waited 5 s for a collector, and its client measured from 3 s on."""
    main = replace(MAIN, waited=5.0)
    start = series_start(main, planted(), measured_from=3.0, seconds=60)
    found = effect(record(28, 38), main, [], MainSeries(planted((20, 30, 0.5)), start=start)).metrics
    assert found["main_qps_ratio"] == pytest.approx(0.5)
    late = series_start(replace(MAIN, seconds=70.0), planted(), measured_from=0.0, seconds=60)
    assert "when the series" in effect(record(28, 38), MAIN, [], MainSeries(planted(), start=late)).facts["cost"]


def test_a_short_one_has_a_cost_where_the_beginning_of_the_series_is_known_well():
    for seconds, has_cost in ((60.2, True), (60.9, False)):
        start = series_start(replace(MAIN, seconds=seconds), planted(), measured_from=0.0, seconds=60)
        found = effect(record(19.9, 21.3), MAIN, [], MainSeries(planted((20, 21, 0.5)), start=start)).metrics
        assert (found.get("main_qps_ratio") == pytest.approx(0.5)) is has_cost


@pytest.mark.parametrize(
    ("p99", "has_ratio", "has_after"),
    [
        (planted(), True, True),
        ([point for point in planted() if point[0] not in (24, 25)], False, False),
        ([point for point in planted() if point[0] != 45], True, False),
        (planted(seconds=50), False, False),  # it may be of other seconds
    ],
)
def test_seconds_without_an_operation_have_no_latency(p99, has_ratio, has_after):
    found = effect(record(20, 30), MAIN, [], MainSeries(planted(), p99))
    assert ("main_p99_ratio" in found.metrics, "main_p99_after_ratio" in found.metrics) == (has_ratio, has_after)
    assert ("p99" in found.facts) is not has_ratio
    found = effect(record(20, 30), MAIN, [], MainSeries(planted((22, 24, 0.0)), p99))
    assert "main_p99_ratio" not in found.metrics


def test_silence_under_another_one_is_not_its():
    p99 = [point for point in planted() if point[0] not in (9, 10)]
    assert "main_p99_ratio" in effect(record(20, 30), MAIN, [record(8, 10.4)], MainSeries(planted(), p99)).metrics


def test_it_is_not_back_while_others_work_or_when_nothing_was_before():
    points = planted((20, 34, 0.5))
    assert effect(record(20, 30), MAIN, [], MainSeries(points)).metrics["main_recovery_seconds"] == pytest.approx(4)
    found = effect(record(20, 30), MAIN, [record(32, 50)], MainSeries(points)).metrics
    assert "main_recovery_seconds" not in found
    found = effect(record(20, 30), MAIN, [], MainSeries(planted((1, 20, 0.0)))).metrics
    assert "main_recovery_seconds" not in found


def test_a_second_with_an_edge_of_another_one_is_of_neither():
    """Another one that slows all down begins at 25.5: the second of which that is a half does not count."""
    points = [(second, rate * (0.2 if 25 < second <= 26 else 1.0)) for second, rate in planted((26, 60, 0.1))]
    found = effect(record(20, 40), MAIN, [record(25.5, 60)], MainSeries(points)).metrics
    assert found["main_qps_ratio"] == 1


def test_rounds_that_were_stopped_have_no_time():
    stopped = replace(record(20, 40), stopped=True)
    assert "beside_seconds" not in effect(stopped, MAIN, [], MainSeries(planted())).metrics
