import pytest

from stepgrid.store.status.durations import seconds

TIMES = {"started": "2026-01-01T10:00:00+00:00", "ended": "2026-01-01T10:00:02.500000+00:00"}


@pytest.mark.parametrize(
    ("record", "took"),
    [
        (TIMES | {"seconds": 3.25}, 3.25),
        (TIMES, 2.5),
        ({"started": TIMES["ended"], "ended": TIMES["started"]}, 0.0),
        ({"started": TIMES["started"]}, None),
        ({"seconds": "long"}, None),
    ],
)
def test_the_clock_that_nobody_sets_counts(record, took):
    assert seconds(record) == took
