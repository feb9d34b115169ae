"""Why an arm is faster or slower: the first-named cause of cases whose cause is known."""

from __future__ import annotations

from typing import Any

import pytest

from stepgrid.summarize.comparisons.causes import causes
from stepgrid.summarize.data.points import Point
from tests.summarize import made

# Figures of a read as a quiet host has them: 10 microseconds, half of them CPU.
USUAL: dict[str, Any] = {
    "qps": 100_000.0,
    "avg_us": 10.0,
    "cpu_us_per_op": 5.0,
    "context_switches_per_op": 0.03,
    "block_cache_hit_pct": 99.5,
    "reads_per_op": 0.01,
    "device_read_await_ms": 0.1,
    "writes_per_op": 0.001,
    "device_write_await_ms": 0.5,
    "stall_pct": 0.0,
    "context_switches_per_s": 3_000.0,
    "pressure_io_pct": 0.0,
    "host_cpu_idle_pct": 50.0,
    "operations": 1_000_000.0,
    "write_kb_per_op": 0.01,
    "process_write_bytes": 10_000_000.0,
}


def point(name: str, **figures: float) -> Point:
    known = {**USUAL, **figures}
    return made.point(*(made.run(name, load, known["qps"], **{key: known[key] for key in known if key != "qps"})
                        for load in range(3)))  # fmt: skip


def why(**figures: float) -> list[str]:
    return causes(point("arm", **figures), point("base"))


@pytest.mark.parametrize(
    ("figures", "first"),
    [
        pytest.param(
            {"qps": 14_000.0, "avg_us": 70.0, "block_cache_hit_pct": 10.5, "cpu_us_per_op": 38.0, "reads_per_op": 0.2},
            "block cache misses 0.5 % → 89.5 %",
            id="a smaller cache, whose misses cost CPU and reads",
        ),
        pytest.param(
            {
                "qps": 40_000.0,
                "avg_us": 25.0,
                "context_switches_per_op": 0.9,
                "context_switches_per_s": 36_000.0,
                "cpu_us_per_op": 9.0,
            },
            "context switches 0.0300 → 0.900 (30.00×) per operation",
            id="a mutex that threads wait for",
        ),
        pytest.param(
            {"qps": 20_000.0, "avg_us": 50.0, "device_read_await_ms": 4.0},
            "each read of the device waits 0.100 → 4 (40.00×) ms, 97 % of the time",
            id="a throttled device",
        ),
        pytest.param(
            {"qps": 80_000.0, "avg_us": 12.5, "cpu_us_per_op": 7.5},
            "CPU 5 → 7.50 (1.50×) µs per operation, all of the time",
            id="a function made slower",
        ),
        pytest.param(
            {"qps": 50_000.0, "avg_us": 20.0, "stall_pct": 40.0, "writes_per_op": 0.004},
            "write stalls 0 → 40 % of the time",
            id="compactions that do not keep up",
        ),
        pytest.param(
            {"qps": 50_000.0, "avg_us": 20.0, "reads_per_op": 0.11},
            "device reads 0.0100 → 0.110 (11.00×) per operation, all of the time",
            id="more reads of the same device",
        ),
        pytest.param(
            {"qps": 10_000.0, "avg_us": 100.0, "cpu_us_per_op": 50.0, "host_cpu_idle_pct": 1.0},
            "CPU 5 → 50 (10.00×) µs per operation, all of the time",
            id="more CPU, of clients that wait for processors",
        ),
        pytest.param(
            {"qps": 20_000.0, "avg_us": 50.0, "pressure_io_pct": 80.0, "host_cpu_idle_pct": 60.0},
            "some task waits for IO 0 → 80 % of the time, all of the time",
            id="a limit that the device does not account for",
        ),
        pytest.param(
            {"qps": 20_000.0, "avg_us": 50.0, "host_cpu_idle_pct": 60.0},
            "off the processors 5 → 45 (9.00×) µs per operation, all of the time",
            id="sleeps, which nothing counts",
        ),
        pytest.param(
            {
                "qps": 50.0,
                "avg_us": 20_000.0,
                "cpu_us_per_op": 40.0,
                "context_switches_per_op": 60.0,
                "context_switches_per_s": 3_000.0,
                "device_read_await_ms": 1980.0,
                "host_cpu_idle_pct": 60.0,
            },
            "each read of the device waits 0.100 → 1,980 (1.98e+04×) ms, 99 % of the time",
            id="a throttled device, beside others who go on switching",
        ),
        pytest.param(
            {
                "qps": 50_000.0,
                "avg_us": 20.0,
                "cpu_us_per_op": 15.0,
                "writes_per_op": 0.04,
                "write_kb_per_op": 0.4,
                "process_write_bytes": 0.0,
            },
            "CPU 5 → 15 (3.00×) µs per operation, all of the time",
            id="more CPU, beside others who write",
        ),
    ],
)
def test_the_first_cause(figures: dict[str, float], first: str) -> None:
    assert why(**figures)[0] == first


def test_what_follows_from_a_cause_stands_behind_it() -> None:
    found = why(qps=14_000.0, avg_us=70.0, block_cache_hit_pct=10.5, cpu_us_per_op=38.0, reads_per_op=0.2)
    assert found[1:] == [
        "CPU 5 → 38 (7.60×) µs per operation, 55 % of the time",
        "device reads 0.0100 → 0.200 (20.00×) per operation, 32 % of the time",
    ]


def test_what_goes_the_other_way_is_no_cause() -> None:
    """Faster, with less CPU, though it switches more."""
    found = why(qps=150_000.0, avg_us=6.0, cpu_us_per_op=2.0, context_switches_per_op=0.09)
    assert found == ["CPU 5 → 2 (0.40×) µs per operation, 75 % of the time"]


def test_client_and_server_are_told_apart() -> None:
    base = point("base", client_cpu_us_per_op=1.0, server_cpu_us_per_op=4.0)
    arm = point("arm", qps=80_000.0, avg_us=12.5, cpu_us_per_op=6.5, client_cpu_us_per_op=1.0, server_cpu_us_per_op=5.5)
    assert causes(arm, base) == ["server CPU 4 → 5.50 (1.38×) µs per operation, 60 % of the time"]


def test_small_changes_and_missing_figures_say_nothing() -> None:
    assert why(qps=90_000.0, cpu_us_per_op=5.2) == []
    assert why() == []
    none = made.point(made.run("arm", 0, 1.0)), made.point(made.run("base", 0, 2.0))
    assert causes(*none) == []
