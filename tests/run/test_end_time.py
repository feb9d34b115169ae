"""The time when a run is to stop, `--until`."""

from datetime import datetime

import pytest

from stepgrid.run import end_time

NOON = datetime(2026, 3, 1, 12, 0, 0).timestamp()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6h", 6 * 3600),
        (" 90m ", 5400),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("45s", 45),
        ("1d", 86400),
        ("12:30", 1800),
        ("11:59", 86340),  # tomorrow
        ("12:00", 86400),
        ("7:05", 68700),
    ],
)
def test_a_duration_or_the_next_such_time_of_day(text, seconds):
    found = end_time.parse_end_time(text, NOON)
    assert found == end_time.RunEndTime(NOON + seconds, text.strip())


@pytest.mark.parametrize("text", ["", "6", "0h", "-1h", "run", "24:00", "12:60", "1h 30", "6 parsecs", "h", "12:30:00"])
def test_anything_else_is_neither(text):
    assert end_time.parse_end_time(text, NOON) is None
