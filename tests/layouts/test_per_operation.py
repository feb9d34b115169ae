"""What an operation cost, of figures that may be missing or zero."""

from stepgrid.layouts.arms import operation_costs


def test_without_a_rate_there_is_nothing() -> None:
    assert operation_costs({"host_cpu_user_pct": 50.0, "host_cpu_system_pct": 10.0}) == {}


def test_a_rate_of_zero_is_one() -> None:
    assert operation_costs({"qps": 0.0, "context_switches_per_s": 10.0}) == {"o/s": 0.0}


def test_what_lacks_a_figure_is_left_out() -> None:
    values = {"qps": 2.0, "host_cpu_user_pct": 50.0, "context_switches_per_s": 10.0, "device_read_mb_per_s": 1.0}
    assert operation_costs(values) == {"cs/o": 5.0, "rKB/o": 512.0, "o/s": 2.0}
