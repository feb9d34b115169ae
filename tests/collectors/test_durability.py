"""The lag of a log between written and flushed, of planted readings."""

import json

import pytest

from stepgrid_databases.collectors.durability import COLLECTOR

MICROSECONDS = 1e6


@pytest.mark.parametrize("readings", [990, 1010])
def test_the_lag_of_a_log_that_is_flushed_each_fifth_of_a_second(tmp_path, readings):
    """Of one that grows at each reading but the last: 0.2 s at most; the end, which nobody saw flushed, is open."""
    lines, flushed = [], 0
    for reading in range(readings):  # each 0.01 s
        written = 10 * min(reading, readings - 2)
        flushed = written if reading % 20 == 0 else flushed
        lines.append(json.dumps([reading / 100, reading / 100 + 0.001, flushed, written]))
    (tmp_path / "stdout").write_text("\n".join([*lines, "[9.9, 9.9"]))
    lags = {name: round(value / MICROSECONDS, 3) for name, value in COLLECTOR.parse(tmp_path).items()}
    assert lags == {
        "durable_lag_p50_us": 0.091,
        **({"durable_lag_p99_us": 0.191} if readings > 1000 else {}),
        "durable_lag_max_us": 0.191,
        "durable_lag_resolution_us": 0.01,
    }


@pytest.mark.parametrize(
    ("readings", "lags"),
    [
        ([], {}),
        ([[0.0, 0.1, 7, 7], [1.0, 1.1, 7, 7]], {}),  # nothing was written
        ([[0, 0.1, 5, 7], [1, 1.1, 5, 8], [1.2, 1.3, 5], [2, 2.1, 5, 8]], {"max": 1.1, "resolution": 1}),  # never
        ([[0, 0, 5, 5], [1, 1.1, 5, 8], [1.2, 1.3, 8], [2, 2.1, 8, 8]], dict.fromkeys(("p50", "max"), 0.3)),
        ([[0, 0, 5, 5], [1, 1.1, 5, 8], [2, 2.1, 6, 6], [3, 3.1, 9, 9]], dict.fromkeys(("p50", "max"), 0.1)),  # crash
    ],
)
def test_what_cannot_be_told_is_missing(tmp_path, readings, lags):
    (tmp_path / "stdout").write_text("\n".join(map(json.dumps, readings)))
    figures = COLLECTOR.parse(tmp_path)
    expected = {f"durable_lag_{name}_us": value * MICROSECONDS for name, value in lags.items()}
    resolution = {} if not lags else {"durable_lag_resolution_us": MICROSECONDS}
    assert figures == pytest.approx({**resolution, **expected})
