"""What of a step's samples is averaged."""

import math
from datetime import UTC, datetime

import pytest

from stepgrid.collect.samples import COLUMNS, measured_part, rows
from stepgrid.model.records import StepRecord, replace

RECORD = StepRecord(seconds=6.0, started="2026-11-22T10:00:00+00:00")
SECONDS = (10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 16.2)


def samples(late=0.0):
    """As many switches as milliseconds; `late`: seconds from the step's start to the first sample."""
    start = datetime(2026, 11, 22, 10, tzinfo=UTC).timestamp() + late
    return rows([{"monotonic": at, "t": start + at - SECONDS[0], "switches": 1000 * (at - 10)} for at in SECONDS])


@pytest.mark.parametrize(
    ("window", "kept", "partial"),
    [
        (None, (*SECONDS[:6], 16.0), False),  # of 6 s
        ((0.0, 6.2), SECONDS, False),
        ((0.2, 5.4), (10.2, *SECONDS[1:6], 15.4), True),
        ((2.0, 4.0), SECONDS[2:5], True),
        ((2.2, 4.3), (12.2, 13.0, 14.0, 14.3), True),
        ((2.2, 2.3), SECONDS, False),  # most of it would be guessed
        ((5.0, 12.0), SECONDS[5:], True),
        ((9.0, 12.0), SECONDS, False),  # no time
    ],
)
def test_samples_are_cut_at_the_edges(window, kept, partial):
    part = measured_part(samples(), window, RECORD)
    assert [row[COLUMNS[("monotonic",)]] for row in part.samples] == pytest.approx(kept)
    assert [row[COLUMNS[("switches",)]] for row in part.samples] == pytest.approx([1000 * (at - 10) for at in kept])
    assert part.is_partial == partial


def test_what_was_before_the_first_sample_is_as_what_came_behind():
    """A first sample that came half a second late: the window is moved, and what it lacks is weighed in."""
    found = measured_part(samples(late=0.5), (0.0, 4.0), RECORD)
    assert [found.samples[at][COLUMNS[("monotonic",)]] for at in (0, -1)] == pytest.approx([10.0, 13.5])
    assert found.weight == pytest.approx(4 / 3.5)
    assert measured_part(samples(late=-3.0), (0.0, 4.0), RECORD).weight == 1  # the clock was set


def test_a_step_begins_when_its_program_has_waited_for_collectors():
    """What a server did in its last second was cut off, as long as its client had waited for perf."""
    part = measured_part(samples(late=1.2), None, replace(RECORD, waited=1.2))
    assert [part.samples[at][COLUMNS[("monotonic",)]] for at in (0, -1)] == pytest.approx([10.0, 16.0])
    assert part.weight == pytest.approx(1.0)


def test_a_missing_counter_stays_missing():
    every = samples()
    last = list(every[-1])
    last[COLUMNS[("switches",)]] = math.nan
    part = measured_part([*every[:-1], tuple(last)], (0.0, 6.1), RECORD)
    assert math.isnan(part.samples[-1][COLUMNS[("switches",)]])


def test_a_sensor_that_is_read_seldom_is_interpolated_between_its_readings():
    """The CPU of a server after its last reading within a step was lost, on a host where a look is dear."""
    every = [[*row] for row in samples()]
    for at in (2, 3, 5, 6):
        every[at][COLUMNS[("switches",)]] = math.nan
    part = measured_part([tuple(row) for row in every], (0.0, 5.4), RECORD)
    assert part.samples[-1][COLUMNS[("switches",)]] == pytest.approx(5400.0)
